-- Names those of these running jobs whose cancel was requested.
SELECT job.id
FROM cadenza.job JOIN unnest($1::bigint[], $2::bigint[]) AS settled (id, lease) USING (id, lease)
WHERE job.state = 2 AND job.cancel_requested
