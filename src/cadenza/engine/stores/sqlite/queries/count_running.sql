-- Counts what runs of a queue or lane, by way of the few leases.
SELECT count(*)
FROM lease JOIN json_each(lease.jobs) AS held JOIN job ON job.id = held.value
WHERE job.state = 2 AND job.lease = lease.number
    AND job.queue = ?1 AND (?2 IS NULL OR job.lane = ?2)
