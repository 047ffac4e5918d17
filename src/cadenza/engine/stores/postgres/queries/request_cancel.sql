-- Asks for running jobs, which the caller holds, to be stopped.
UPDATE cadenza.job SET cancel_requested = true WHERE id = ANY($1::bigint[]) AND state = 2
