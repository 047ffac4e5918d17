-- Counts a queue's running jobs through its leases; exact while `hold_leases` holds.
SELECT count(*)
FROM cadenza.lease
    CROSS JOIN LATERAL unnest(coalesce(jobs, ARRAY(SELECT generate_series(first_job, last_job)))) AS held (id)
    JOIN cadenza.job ON job.id = held.id AND job.lease = lease.number AND job.state = 2
WHERE lease.queue = $1
