-- Lets a finished job wait again with fresh counters, holding no unique key.
UPDATE job SET
    state = 0, run_at = min(run_at, ?), finished_at = NULL, output = NULL, attempts = 0, crashes = 0,
    snoozes = 0, cancel_requested = 0, unique_key = NULL
WHERE id = ?
