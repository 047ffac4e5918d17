-- Puts jobs under a lease; a key held only while queued is free from here on.
UPDATE job SET state = 2, lease = ?, unique_while = nullif(unique_while, 1)
WHERE id IN (SELECT value FROM json_each(?))
