-- Lists the gates of lanes in which a suspect waits, in turn.
SELECT
    queue, lane, standing, in_flight, paused, reason, parked_until, concurrency,
    rate_count, rate_per, rate_burst, next_start
FROM gate
WHERE queue = ?1 AND lane IN (
    SELECT lane FROM job WHERE queue = ?1 AND state = 3 AND lane IS NOT NULL
)
ORDER BY turn
