-- Says whether jobs wait that must run alone and whose gate lets one start.
SELECT EXISTS (
    SELECT FROM cadenza.job LEFT JOIN cadenza.gate
        ON gate.queue = job.queue AND gate.lane = coalesce(job.lane, '')
    WHERE job.queue = $1 AND state = 3 AND (gate.queue IS NULL OR openable AND opens_at <= $2)
)
