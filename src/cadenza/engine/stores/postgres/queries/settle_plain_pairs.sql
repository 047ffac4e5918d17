-- Deletes plain jobs that are done and not kept, each only if its lease still holds; none if a gate counts them;
-- says which if not all.
WITH closed AS (
    DELETE FROM cadenza.lease
    WHERE number = ANY($3::bigint[])
        -- A lease stays for as long as one of its jobs does: only through it would a crash be noticed.
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
), gone AS (
    DELETE FROM cadenza.job
    WHERE id = ANY($1::bigint[]) AND state = 2
        -- IS TRUE keeps the pairs in a hash: joined, they cost twice as much.
        AND ((id, lease) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))) IS TRUE
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
    RETURNING id
), counted AS MATERIALIZED (
    SELECT count(*) AS settled FROM gone
)
SELECT settled, CASE WHEN settled < cardinality($1::bigint[]) THEN ARRAY(SELECT id FROM gone) END AS ids
FROM counted
