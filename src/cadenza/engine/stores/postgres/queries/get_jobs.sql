-- Shows jobs by id, live or finished; one snapshot, so a job that just moves is seen once.
SELECT
    job.id, job.queue, task, state, payload, priority, created_at, run_at, attempts, crashes, snoozes, lane,
    unique_key, tags, options, schedule, job.lease, lease.until, lease.worker, cancel_requested, progress,
    NULL::text AS output, errors, NULL::timestamptz AS finished_at
FROM cadenza.job LEFT JOIN cadenza.lease ON job.state = 2 AND lease.number = job.lease
WHERE job.id = ANY($1::bigint[])
UNION ALL
SELECT
    id, queue, task, state, payload, priority, created_at, run_at, attempts, crashes, snoozes, lane,
    unique_key, tags, options, schedule, lease, NULL, NULL, cancel_requested, progress,
    output, errors, finished_at
FROM cadenza.job_done
WHERE id = ANY($1::bigint[])
