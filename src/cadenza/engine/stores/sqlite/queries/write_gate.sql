-- Inserts or replaces a gate; a turn of 0 leaves its lane where it stands.
INSERT INTO gate (queue, lane, standing, opens_at, turn, in_flight, paused, reason, parked_until,
                  concurrency,
    rate_count, rate_per, rate_burst, next_start)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    standing = excluded.standing, opens_at = excluded.opens_at,
    turn = CASE WHEN excluded.turn THEN excluded.turn ELSE turn END,
    in_flight = excluded.in_flight, paused = excluded.paused, reason = excluded.reason,
    parked_until = excluded.parked_until, concurrency = excluded.concurrency,
    rate_count = excluded.rate_count, rate_per = excluded.rate_per,
    rate_burst = excluded.rate_burst, next_start = excluded.next_start
