-- Makes the markers of paced keys unless they are there.
INSERT INTO cadenza.marker (kind, key)
SELECT 'pace', key FROM unnest($1::text[]) AS key ORDER BY key
ON CONFLICT (kind, key) DO NOTHING
