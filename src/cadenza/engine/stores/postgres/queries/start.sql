-- Adds to the jobs of leases that were started; pairs of a lease and a job come in.
UPDATE cadenza.lease SET started = started || begun.jobs
FROM (
    SELECT number, array_agg(id) AS jobs
    FROM unnest($1::bigint[], $2::bigint[]) AS pair (number, id)
    GROUP BY number
) AS begun
WHERE lease.number = begun.number AND started IS NOT NULL
