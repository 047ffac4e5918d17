-- Makes lanes with their limits, or writes new limits over the old ones; the newest stands.
INSERT INTO cadenza.gate (queue, lane, concurrency, rate_count, rate_per, rate_burst)
SELECT queue, lane, concurrency, rate_count, rate_per, rate_burst
FROM unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::interval[], $6::integer[])
    AS new (queue, lane, concurrency, rate_count, rate_per, rate_burst)
ORDER BY queue, lane
ON CONFLICT (queue, lane) DO UPDATE
SET concurrency = excluded.concurrency,
    rate_count = excluded.rate_count,
    rate_per = excluded.rate_per,
    rate_burst = excluded.rate_burst,
    opens_at = greatest(
        gate.parked_until,
        gate.next_start - excluded.rate_per * (excluded.rate_burst - 1) / excluded.rate_count,
        '-infinity'
    )
