-- Leases ready jobs that stand in no lane: each row to one caller only, and none while something else comes first.
-- It reads from a place on ($5 and after), and what has a lower priority number than that place.
-- The CTE is a fence: without it the planner may run the LIMIT again and lease more than was asked.
WITH heads AS MATERIALIZED (
    SELECT id
    FROM (
        SELECT id FROM (
            SELECT id
            FROM cadenza.job
            WHERE queue = $1 AND state = 1 AND lane IS NULL AND priority < $5
            ORDER BY priority, run_at, id
            LIMIT $2
            FOR UPDATE SKIP LOCKED
        ) AS urgent
        UNION ALL
        SELECT id FROM (
            SELECT id
            FROM cadenza.job
            WHERE queue = $1 AND state = 1 AND lane IS NULL AND (priority, run_at, id) >= ($5, $6, $7)
            ORDER BY priority, run_at, id
            LIMIT $2
            FOR UPDATE SKIP LOCKED
        ) AS following
    ) AS ready
    WHERE NOT EXISTS (
            SELECT FROM cadenza.gate
            WHERE queue = $1 AND lane = ''
                AND (counted OR NOT openable OR opens_at > (SELECT cadenza.cadenza_now()))
        )
        AND NOT EXISTS (
            SELECT FROM cadenza.gate
            WHERE queue = $1 AND lane <> '' AND awake AND openable
                AND opens_at <= (SELECT cadenza.cadenza_now())
        )
        AND NOT EXISTS (SELECT FROM cadenza.wake WHERE queue = $1)
        AND ($9 OR NOT EXISTS (
            SELECT FROM cadenza.job
            WHERE queue = $1 AND state = 0 AND run_at >= $8 AND run_at <= (SELECT cadenza.cadenza_now())
        ))
    LIMIT $2
), leased AS (
    INSERT INTO cadenza.lease (number, until, worker, queue, first_job, last_job, jobs, started)
    SELECT
        nextval('cadenza.lease_number'), cadenza.cadenza_now() + $4::interval, $3, $1, min(id), max(id),
        CASE WHEN max(id) - min(id) >= count(*) THEN array_agg(id) END,
        CASE WHEN NOT $10::boolean THEN ARRAY[]::bigint[] END
    FROM heads
    HAVING count(*) > 0
    RETURNING number
)
UPDATE cadenza.job
SET state = 2, lease = (SELECT number FROM leased), unique_while = nullif(unique_while, 1)
WHERE id = ANY(ARRAY(SELECT id FROM heads))
RETURNING
    id, lease, task, payload, priority, run_at,
    -- Most jobs have none of these; six columns less are a twentieth of the claim.
    CASE WHEN attempts + crashes + snoozes > 0 OR num_nonnulls(options, schedule, progress) > 0
        THEN ARRAY[attempts::text, crashes::text, snoozes::text, options, schedule, progress]
    END AS rest,
    (SELECT EXISTS (
        SELECT FROM cadenza.job AS crashed LEFT JOIN cadenza.gate USING (queue, lane)
        WHERE crashed.queue = $1 AND crashed.state = 3
            AND (crashed.lane IS NULL OR openable AND opens_at <= (SELECT cadenza.cadenza_now()))
    )) AS crashed
