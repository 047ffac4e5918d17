-- Names those of these jobs that have finished.
SELECT id FROM cadenza.job_done WHERE id = ANY($1::bigint[])
