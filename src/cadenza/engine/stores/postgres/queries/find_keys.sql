-- Looks up who holds these unique keys.
SELECT unique_key, id, run_at FROM cadenza.job WHERE unique_key = ANY($1::text[]) AND unique_while IS NOT NULL
