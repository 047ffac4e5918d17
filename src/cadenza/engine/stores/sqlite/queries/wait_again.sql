-- Lets one job wait again; the next claim after its time makes it ready.
UPDATE job
SET state = 0, run_at = coalesce(?, run_at), attempts = attempts + ?, snoozes = snoozes + ?
WHERE id = ?
