-- Finds running jobs of these leases that are to be canceled.
SELECT id FROM job
WHERE cancel_requested = 1 AND state = 2 AND lease IN (SELECT value FROM json_each(?))
