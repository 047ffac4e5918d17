-- Deletes plain jobs of one lease that are done and not kept, each only if the lease still holds; none if a gate counts them;
-- says which if not all.
WITH closed AS (
    DELETE FROM cadenza.lease
    WHERE number = ANY($3::bigint[])
        -- A lease stays for as long as one of its jobs does: only through it would a crash be noticed.
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
), gone AS (
    DELETE FROM cadenza.job
    WHERE id = ANY($1::bigint[]) AND lease = $2 AND state = 2
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
    RETURNING id
), counted AS MATERIALIZED (
    SELECT count(*) AS settled FROM gone
)
SELECT settled, CASE WHEN settled < cardinality($1::bigint[]) THEN ARRAY(SELECT id FROM gone) END AS ids
FROM counted
