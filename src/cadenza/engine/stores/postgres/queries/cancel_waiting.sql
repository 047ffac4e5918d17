-- Moves waiting jobs, which the caller holds, to the finished ones as canceled.
WITH gone AS (
    DELETE FROM cadenza.job WHERE id = ANY($1::bigint[]) AND state <> 2 RETURNING *
)
INSERT INTO cadenza.job_done (
    id, lease, run_at, created_at, finished_at, priority, attempts, crashes, snoozes, state,
    cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, tags, errors
)
SELECT
    id, lease, run_at, created_at, cadenza.cadenza_now(), priority, attempts, crashes, snoozes, 6,
    cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, tags,
    array_append(errors, $2::text)
FROM gone
