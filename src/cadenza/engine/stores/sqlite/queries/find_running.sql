-- Finds what a lease still holds; the count includes the crash that is told now.
SELECT id, queue, lane, crashes + 1, cancel_requested FROM job
WHERE id IN (SELECT value FROM json_each(?)) AND lease = ? AND state = 2
ORDER BY id
