-- Opens a lease over jobs that were taken in this transaction.
INSERT INTO cadenza.lease (number, until, worker, queue, first_job, last_job, jobs, started)
SELECT $1, cadenza.cadenza_now() + $2::interval, $3, $4, min(id), max(id), $5::bigint[], CASE WHEN NOT $6::boolean THEN ARRAY[]::bigint[] END
FROM unnest($5::bigint[]) AS id
