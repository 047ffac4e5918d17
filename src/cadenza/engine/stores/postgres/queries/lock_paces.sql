-- Holds paced keys until the end of the transaction, in one order for all callers; null means never paced.
SELECT key, at FROM cadenza.marker WHERE kind = 'pace' AND key = ANY($1::text[]) ORDER BY key FOR UPDATE
