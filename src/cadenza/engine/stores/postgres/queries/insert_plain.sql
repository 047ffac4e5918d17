-- Adds jobs that need no rule and no lane, and tells sleeping workers in the same round trip.
WITH clock AS MATERIALIZED (
    SELECT cadenza.cadenza_now() AS now
), added AS (
    INSERT INTO cadenza.job (created_at, run_at, state, queue, task, payload, priority, options, schedule, tags)
    SELECT
        now, coalesce(at, now + delay, now), CASE WHEN coalesce(at, now + delay, now) <= now THEN 1 ELSE 0 END,
        queue, task, payload, priority, options, schedule, tags::text[]
    FROM clock, unnest(
        $1::text[], $2::text[], $3::text[], $4::integer[], $5::timestamptz[], $6::interval[],
        $7::text[], $8::text[], $9::text[]
    ) WITH ORDINALITY AS new (queue, task, payload, priority, at, delay, options, schedule, tags, place)
    ORDER BY place
    RETURNING id, run_at, queue
), told AS MATERIALIZED (
    SELECT pg_notify($10, queue)
    FROM (
        SELECT DISTINCT queue FROM added, clock
        WHERE queue = ANY($11::text[]) AND run_at <= now + interval '5 seconds'
    ) AS runnable
)
SELECT id, run_at FROM added WHERE (SELECT count(*) FROM told) >= 0
