-- Takes one suspect of a lane ('' for none), for a caller who holds its gate.
WITH heads AS MATERIALIZED (
    SELECT id
    FROM cadenza.job
    WHERE queue = $1 AND coalesce(lane, '') = $2 AND state = 3
    ORDER BY priority, run_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE cadenza.job
SET state = 2, lease = $3, unique_while = nullif(unique_while, 1)
WHERE id = ANY(ARRAY(SELECT id FROM heads))
RETURNING
    id, lease, task, payload, priority, run_at,
    attempts, crashes, snoozes, lane, options, schedule, progress
