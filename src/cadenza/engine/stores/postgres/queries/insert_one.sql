-- Adds one job that needs no rule and no lane, and tells sleeping workers in the same round trip.
WITH added AS (
    INSERT INTO cadenza.job (created_at, run_at, state, queue, task, payload, priority, options, schedule, tags)
    SELECT now, at, CASE WHEN at <= now THEN 1 ELSE 0 END, $1::text, $2, $3, $4, $7, $8, $9::text[]
    FROM (
        SELECT now, coalesce($5::timestamptz, now + $6::interval, now) AS at
        FROM (SELECT cadenza.cadenza_now() AS now OFFSET 0) AS clock
    ) AS due
    RETURNING id, run_at, created_at
)
SELECT
    id, run_at,
    CASE WHEN $11::boolean AND run_at <= created_at + interval '5 seconds' THEN pg_notify($10, $1) IS NULL END
FROM added
