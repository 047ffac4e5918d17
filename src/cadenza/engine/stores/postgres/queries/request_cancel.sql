-- Asks for running jobs, which the caller holds, to be stopped; the first to ask gives the reason.
UPDATE cadenza.job SET cancel_requested = true, errors = array_append(errors, $2::text)
WHERE id = ANY($1::bigint[]) AND state = 2 AND NOT cancel_requested
