-- Moves finished jobs back to the live ones, ready, with fresh counters and without their unique keys; of two callers one does it.
WITH gone AS (
    DELETE FROM cadenza.job_done WHERE id = ANY($1::bigint[]) RETURNING *
), back AS (
    INSERT INTO cadenza.job (
        id, lease, run_at, created_at, priority, state, queue, task, payload, lane, options, schedule, progress,
        tags, errors
    )
    SELECT
        id, lease, least(run_at, (SELECT cadenza.cadenza_now())), created_at, priority, 1, queue, task, payload,
        lane, options, schedule, progress, tags, errors
    FROM gone
    RETURNING id, queue, lane
), woken AS (
    INSERT INTO cadenza.wake (queue, lane) SELECT DISTINCT queue, lane FROM back WHERE lane IS NOT NULL
)
SELECT id, queue FROM back
