-- Marks keys for a period where none is running; of two callers at once the first wins, the second waits and sees it.
INSERT INTO cadenza.marker (kind, key, at, job_id)
SELECT 'throttle', key, $1::timestamptz + period, id
FROM unnest($2::text[], $3::interval[], $4::bigint[]) AS new (key, period, id)
ORDER BY key
ON CONFLICT (kind, key) DO UPDATE SET at = excluded.at, job_id = excluded.job_id
WHERE marker.at <= $1::timestamptz
RETURNING key
