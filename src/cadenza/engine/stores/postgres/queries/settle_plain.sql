-- Deletes plain jobs of one lease that are done and not kept, each only if the lease still holds; none if a gate counts them.
WITH closed AS (
    DELETE FROM cadenza.lease WHERE number = ANY($3::bigint[])
)
DELETE FROM cadenza.job
WHERE id = ANY($1::bigint[]) AND lease = $2 AND state = 2
    AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
RETURNING id
