-- Writes a gate that the caller holds.
UPDATE cadenza.gate
SET paused = $3, reason = $4, parked_until = $5, concurrency = $6, rate_count = $7, rate_per = $8,
    rate_burst = $9, in_flight = $10, opens_at = $11
WHERE queue = $1 AND lane = $2
