-- Calls lanes that got ready jobs; the call is committed with the jobs, and nobody is waited for.
INSERT INTO cadenza.wake (queue, lane) SELECT queue, lane FROM unnest($1::text[], $2::text[]) AS new (queue, lane)
