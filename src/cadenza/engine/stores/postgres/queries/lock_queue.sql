-- Holds a queue's gate until the end of the transaction; whoever sets a limit waits, because the lease table is touched first.
WITH touched AS (
    DELETE FROM cadenza.lease WHERE number = 0
)
SELECT * FROM cadenza.gate WHERE queue = $1 AND lane = '' FOR UPDATE
