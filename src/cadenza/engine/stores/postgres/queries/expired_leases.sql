-- Holds leases that ran out, with what still runs under them; two rescuers share the work.
WITH expired AS MATERIALIZED (
    SELECT number, coalesce(jobs, ARRAY(SELECT generate_series(first_job, last_job))) AS jobs, started
    FROM cadenza.lease
    WHERE until <= (SELECT cadenza.cadenza_now())
    ORDER BY number
    LIMIT 100
    FOR UPDATE SKIP LOCKED
)
SELECT
    expired.number, job.id, job.crashes, job.cancel_requested, job.queue, cadenza.cadenza_now() AS now,
    (started IS NULL OR job.id = ANY(started))::integer AS crashed
FROM expired LEFT JOIN cadenza.job ON job.id = ANY(expired.jobs) AND job.lease = expired.number AND job.state = 2
ORDER BY expired.number, job.id
