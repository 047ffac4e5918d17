-- Ends one job; its unique key is free.
UPDATE job SET state = ?, finished_at = ?, attempts = attempts + ?, output = ?, unique_while = NULL
WHERE id = ?
