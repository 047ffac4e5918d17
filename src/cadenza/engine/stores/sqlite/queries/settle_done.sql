-- Ends jobs of one lease as done; a job that lost the lease matches nothing.
UPDATE job
SET state = 4, finished_at = ?, attempts = attempts + 1, unique_while = NULL
WHERE id IN (SELECT value FROM json_each(?)) AND lease = ? AND state = 2
