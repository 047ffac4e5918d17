-- Counts the running jobs of a lease by queue and lane.
SELECT queue, lane, count(*)
FROM job
WHERE id IN (SELECT value FROM json_each(?)) AND lease = ? AND state = 2
GROUP BY queue, lane
