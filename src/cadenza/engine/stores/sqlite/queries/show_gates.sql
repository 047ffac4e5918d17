-- Shows every gate.
SELECT
    queue, lane, standing, in_flight, paused, reason, parked_until, concurrency,
    rate_count, rate_per, rate_burst, next_start
FROM gate
