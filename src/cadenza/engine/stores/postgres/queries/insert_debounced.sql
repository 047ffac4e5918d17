-- Adds jobs, or replaces the waiting ones of their keys and lets them wait again; a running one is left alone.
WITH new AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::integer[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::smallint[], $14::interval[]
    ) AS new (
        id, run_at, queue, task, payload, priority,
        lane, options, schedule, tags, unique_key, unique_while, max_wait
    )
)
INSERT INTO cadenza.job (
    id, created_at, run_at, state, queue, task, payload, priority,
    lane, options, schedule, tags, unique_key, unique_while
)
SELECT
    id, $1::timestamptz, run_at, CASE WHEN run_at <= $1::timestamptz THEN 1 ELSE 0 END, queue, task, payload, priority,
    lane, options, schedule, tags::text[], unique_key, unique_while
FROM new
ORDER BY unique_key
ON CONFLICT (unique_key) WHERE unique_while IS NOT NULL DO UPDATE
SET payload = excluded.payload,
    (run_at, state) = (
        SELECT
            least(new.run_at, job.created_at + new.max_wait),
            CASE
                WHEN least(new.run_at, job.created_at + new.max_wait) > $1::timestamptz THEN 0
                WHEN job.crashes > 1 THEN 3
                ELSE 1
            END
        FROM new
        WHERE new.unique_key = excluded.unique_key
    )
WHERE job.state <> 2
RETURNING id, unique_key, run_at, queue, CASE WHEN state = 1 THEN lane END
