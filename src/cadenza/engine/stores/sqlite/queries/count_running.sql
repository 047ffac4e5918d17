-- Counts what runs of a queue or lane, by way of the few leases.
SELECT count(*)
FROM lease CROSS JOIN json_each(lease.jobs) AS held CROSS JOIN job
WHERE job.id = held.value AND job.state = 2 AND job.lease = lease.number
    AND job.queue = ?1 AND (?2 IS NULL OR job.lane = ?2)
