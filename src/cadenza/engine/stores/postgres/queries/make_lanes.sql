-- Makes the gates of new lanes unless another made them meanwhile.
INSERT INTO cadenza.gate (queue, lane)
SELECT queue, lane FROM unnest($1::text[], $2::text[]) AS new (queue, lane) ORDER BY queue, lane
ON CONFLICT (queue, lane) DO NOTHING
