-- Holds live jobs until the end of the transaction, in one order for all callers; a claim passes them by.
SELECT id, state FROM cadenza.job WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE
