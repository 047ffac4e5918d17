-- Holds up to $3 lanes that may start something, those served longest ago first; lanes that another holds are left to him.
SELECT *
FROM cadenza.gate
WHERE queue = $1 AND lane <> '' AND awake AND openable AND opens_at <= $2
ORDER BY opens_at
LIMIT $3
FOR UPDATE SKIP LOCKED
