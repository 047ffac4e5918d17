-- Says whether jobs wait that must run alone and whose gates let one start.
SELECT EXISTS (
    SELECT FROM cadenza.job LEFT JOIN cadenza.gate USING (queue, lane)
    WHERE job.queue = $1 AND state = 3 AND (job.lane IS NULL OR openable AND opens_at <= $2)
) AND NOT EXISTS (
    SELECT FROM cadenza.gate WHERE queue = $1 AND lane = '' AND (NOT openable OR opens_at > $2)
)
