-- Names the lanes ('' for none) whose crashed jobs may start, in the order in which they are to be tried; locks nothing.
SELECT DISTINCT coalesce(job.lane, '') AS lane, job.lane IS NULL AS plain, coalesce(gate.turn, 0) AS turn
FROM cadenza.job LEFT JOIN cadenza.gate ON gate.queue = job.queue AND gate.lane = job.lane
WHERE job.queue = $1 AND state = 3 AND (job.lane IS NULL OR openable AND opens_at <= $2)
ORDER BY plain, turn
LIMIT 64
