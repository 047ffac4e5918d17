-- Takes ready jobs that stand in no lane, for a caller who holds the queue's gate or needs none.
WITH heads AS MATERIALIZED (
    SELECT id
    FROM cadenza.job
    WHERE queue = $1 AND state = 1 AND lane IS NULL
    ORDER BY priority, run_at, id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE cadenza.job
SET state = 2, lease = $3, unique_while = nullif(unique_while, 1)
WHERE id = ANY(ARRAY(SELECT id FROM heads))
RETURNING
    id, lease, task, payload, priority, run_at,
    attempts, crashes, snoozes, lane, options, schedule, progress
