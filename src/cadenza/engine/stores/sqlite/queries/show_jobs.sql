-- Shows jobs; who holds a running one, and until when, is its lease's to say.
SELECT
    id, queue, task, state, payload, priority, created_at, run_at, attempts, crashes, snoozes, lane,
    unique_key, tags, options, schedule, lease, until, worker, cancel_requested, progress, output,
    errors, finished_at
FROM job LEFT JOIN lease ON state = 2 AND number = lease
