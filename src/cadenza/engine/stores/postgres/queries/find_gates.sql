-- Reads the limits of lanes without holding them.
SELECT queue, lane, concurrency, rate_count, rate_per, rate_burst
FROM cadenza.gate JOIN unnest($1::text[], $2::text[]) AS asked (queue, lane) USING (queue, lane)
