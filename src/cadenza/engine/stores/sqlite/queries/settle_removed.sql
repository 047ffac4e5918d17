-- Removes jobs of one lease that are done and not to be kept.
DELETE FROM job WHERE id IN (SELECT value FROM json_each(?)) AND lease = ? AND state = 2
