-- Looks at a queue, from a place on, without locking: what a claim has to do next, or when it should come back.
WITH clock AS MATERIALIZED (
    SELECT cadenza.cadenza_now() AS now
), whole AS MATERIALIZED (
    SELECT * FROM cadenza.gate WHERE queue = $1 AND lane = ''
), shut AS MATERIALIZED (
    SELECT FROM whole WHERE NOT openable OR opens_at > (SELECT now FROM clock)
), soon AS MATERIALIZED (
    SELECT run_at, lane
    FROM cadenza.job
    WHERE queue = $1 AND state = 0 AND run_at >= $5
    ORDER BY run_at
    LIMIT 100
), ready AS MATERIALIZED (
    SELECT
    WHERE EXISTS (SELECT FROM cadenza.job WHERE queue = $1 AND state = 1 AND lane IS NULL AND priority < $2)
        OR EXISTS (
            SELECT FROM cadenza.job
            WHERE queue = $1 AND state = 1 AND lane IS NULL AND (priority, run_at, id) >= ($2, $3, $4)
        )
), candidates AS (
    SELECT (SELECT now FROM clock) AS at FROM ready
    UNION ALL
    SELECT greatest(run_at, opens_at)
    FROM soon LEFT JOIN cadenza.gate ON gate.queue = $1 AND gate.lane = soon.lane
    WHERE soon.lane IS NULL OR openable
    UNION ALL
    SELECT max(run_at) FROM soon HAVING count(*) = 100
    UNION ALL
    -- A lane may be awake or called and yet be empty: its last job was canceled.
    (SELECT opens_at
     FROM cadenza.gate
     WHERE queue = $1 AND lane <> '' AND awake AND openable
         AND EXISTS (
             SELECT FROM cadenza.job
             WHERE job.queue = $1 AND job.lane = gate.lane AND job.lane IS NOT NULL AND state = 1
         )
     ORDER BY opens_at
     LIMIT 1)
    UNION ALL
    (SELECT opens_at
     FROM cadenza.wake JOIN cadenza.gate USING (queue, lane)
     WHERE wake.queue = $1 AND openable
         AND EXISTS (
             SELECT FROM cadenza.job
             WHERE job.queue = $1 AND job.lane = gate.lane AND job.lane IS NOT NULL AND state = 1
         )
     LIMIT 100)
    UNION ALL
    (SELECT coalesce(opens_at, '-infinity')
     FROM cadenza.job LEFT JOIN cadenza.gate USING (queue, lane)
     WHERE job.queue = $1 AND state = 3 AND (job.lane IS NULL OR openable)
     LIMIT 100)
)
SELECT
    (SELECT now FROM clock) AS now,
    EXISTS (SELECT FROM ready) AS ready,
    EXISTS (SELECT FROM soon WHERE run_at <= (SELECT now FROM clock)) AS due,
    EXISTS (SELECT FROM whole WHERE counted) OR EXISTS (SELECT FROM shut) AS gated,
    (EXISTS (
        SELECT FROM cadenza.gate
        WHERE queue = $1 AND lane <> '' AND awake AND openable AND opens_at <= (SELECT now FROM clock)
    ) OR EXISTS (SELECT FROM cadenza.wake WHERE queue = $1)) AND NOT EXISTS (SELECT FROM shut) AS lanes,
    EXISTS (
        SELECT FROM cadenza.job LEFT JOIN cadenza.gate USING (queue, lane)
        WHERE job.queue = $1 AND state = 3
            AND (job.lane IS NULL OR openable AND opens_at <= (SELECT now FROM clock))
    ) AND NOT EXISTS (SELECT FROM shut) AS crashed,
    CASE WHEN NOT EXISTS (SELECT FROM whole WHERE NOT openable) THEN
        (SELECT greatest(min(at), (SELECT now FROM clock), (SELECT opens_at FROM whole))
         FROM candidates HAVING count(*) > 0)
    END AS next_due,
    -- Last, because what stands before is worked out in this order.
    extract(epoch FROM clock_timestamp() - statement_timestamp())::double precision AS took
