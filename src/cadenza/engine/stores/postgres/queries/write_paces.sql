-- Writes when the next job of each held key may run.
UPDATE cadenza.marker SET at = new.at
FROM unnest($1::text[], $2::timestamptz[]) AS new (key, at)
WHERE marker.kind = 'pace' AND marker.key = new.key
