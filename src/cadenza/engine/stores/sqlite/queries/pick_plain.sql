-- Picks ready jobs that stand in no lane, in order, as one row: count, ids, jobs.
SELECT count(*), json_group_array(id),
    json_group_array(json_array(
        id, task, payload, attempts, crashes, run_at, lane, options, schedule, snoozes, progress
    ))
FROM (
    SELECT id, task, payload, attempts, crashes, run_at, lane, options, schedule, snoozes, progress
    FROM job
    WHERE queue = ? AND state = 1 AND lane IS NULL
    ORDER BY priority, run_at, id LIMIT ?
)
