-- Lists lanes that open by themselves, the soonest first.
SELECT
    queue, lane, standing, in_flight, paused, reason, parked_until, concurrency,
    rate_count, rate_per, rate_burst, next_start
FROM gate
WHERE queue = ? AND standing = 2
ORDER BY opens_at LIMIT ?
