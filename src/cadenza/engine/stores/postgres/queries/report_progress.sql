-- Writes a running job's progress, only if its lease still holds.
UPDATE cadenza.job SET progress = $3 WHERE id = $1 AND lease = $2 AND state = 2 RETURNING id
