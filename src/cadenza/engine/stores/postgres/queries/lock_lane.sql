-- Holds one gate until the end of the transaction, and waits for it.
SELECT * FROM cadenza.gate WHERE queue = $1 AND lane = $2 FOR UPDATE
