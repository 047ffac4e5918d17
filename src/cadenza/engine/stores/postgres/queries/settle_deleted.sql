-- Deletes jobs that are done and not kept, each only if its lease still holds; says which if not all.
WITH gone AS (
    DELETE FROM cadenza.job
    WHERE id = ANY($1::bigint[]) AND state = 2
        -- IS TRUE keeps the pairs in a hash: joined, they cost twice as much.
        AND ((id, lease) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))) IS TRUE
    RETURNING id, lease, queue, lane
), closed AS (
    DELETE FROM cadenza.lease WHERE number = ANY($3::bigint[])
), scopes AS MATERIALIZED (
    SELECT queue, '' AS lane, count(*) AS left_ FROM gone WHERE EXISTS (SELECT FROM cadenza.gate WHERE counted) GROUP BY queue
    UNION ALL
    SELECT queue, lane, count(*) FROM gone WHERE lane IS NOT NULL GROUP BY queue, lane
), held AS MATERIALIZED (
    SELECT queue, lane, left_
    FROM cadenza.gate JOIN scopes USING (queue, lane)
    WHERE counted
    ORDER BY queue, lane
    FOR UPDATE OF gate
), opened AS (
    UPDATE cadenza.gate SET in_flight = greatest(in_flight - left_, 0)
    FROM held
    WHERE gate.queue = held.queue AND gate.lane = held.lane
    RETURNING gate.queue
)
SELECT
    count(*) AS settled,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(id) END AS ids,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(lease) END AS leases,
    (SELECT array_agg(DISTINCT queue) FROM opened) AS queues
FROM gone
