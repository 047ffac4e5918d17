-- Tells sleeping workers, once the transaction is committed, that queues may have got work.
SELECT pg_notify($1, queue) FROM unnest($2::text[]) AS queue
