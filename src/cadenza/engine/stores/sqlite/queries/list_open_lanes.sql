-- Lists lanes that may start something; who was served longest ago comes first.
SELECT
    queue, lane, standing, in_flight, paused, reason, parked_until, concurrency,
    rate_count, rate_per, rate_burst, next_start
FROM gate
WHERE queue = ? AND standing = 1
ORDER BY turn LIMIT ?
