-- Extends this worker's leases, one row a claim, and names jobs under them whose cancel was requested.
WITH held AS (
    UPDATE cadenza.lease SET until = cadenza.cadenza_now() + $3::interval
    WHERE number = ANY($2::bigint[]) AND worker = $1
    RETURNING number
)
SELECT
    (SELECT array_agg(number) FROM held) AS held,
    (SELECT array_agg(id) FROM cadenza.job
     WHERE cancel_requested AND state = 2 AND lease IN (SELECT number FROM held)) AS cancel
