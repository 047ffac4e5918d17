-- Draws ids for jobs that are about to be added, in order; numbers of jobs that are then refused stay unused.
SELECT cadenza.cadenza_now(), array(SELECT nextval('cadenza.job_id') FROM generate_series(1, $1::integer))
