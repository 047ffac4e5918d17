-- Finds what a lease still holds, and which of it was started.
SELECT
    id, queue, lane, crashes, cancel_requested,
    ?3 IS NULL OR id IN (SELECT value FROM json_each(?3))
FROM job
WHERE id IN (SELECT value FROM json_each(?1)) AND lease = ?2 AND state = 2
ORDER BY id
