-- Opens a lease over jobs that were taken in this transaction.
INSERT INTO cadenza.lease (number, until, worker, queue, jobs)
VALUES ($1, cadenza.cadenza_now() + $2::interval, $3, $4, $5)
