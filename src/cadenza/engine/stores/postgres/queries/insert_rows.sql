-- Adds jobs under ids that were drawn; one whose unique key is taken is left out, also against others that add it now.
INSERT INTO cadenza.job (
    id, created_at, run_at, state, queue, task, payload, priority,
    lane, options, schedule, tags, unique_key, unique_while
)
SELECT
    id, $1::timestamptz, run_at, CASE WHEN run_at <= $1::timestamptz THEN 1 ELSE 0 END, queue, task, payload, priority,
    lane, options, schedule, tags::text[], unique_key, unique_while
FROM unnest(
    $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::integer[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::smallint[]
) AS new (id, run_at, queue, task, payload, priority, lane, options, schedule, tags, unique_key, unique_while)
-- By keys first: two who name the same ones in another order would block each other.
ORDER BY unique_key, id
ON CONFLICT (unique_key) WHERE unique_while IS NOT NULL DO NOTHING
RETURNING id
