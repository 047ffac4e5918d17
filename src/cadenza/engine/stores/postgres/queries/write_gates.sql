-- Writes gates that the caller holds after starts; a lane sleeps only if no ready job of it can be seen now.
UPDATE cadenza.gate
SET in_flight = new.in_flight,
    next_start = new.next_start,
    opens_at = new.opens_at,
    turn = CASE WHEN new.served THEN nextval('cadenza.lane_turn') ELSE turn END,
    awake = EXISTS (
        SELECT FROM cadenza.job
        WHERE job.queue = $1 AND job.lane = gate.lane AND job.lane IS NOT NULL AND job.state = 1
    )
FROM unnest($2::text[], $3::integer[], $4::timestamptz[], $5::timestamptz[], $6::boolean[])
    AS new (lane, in_flight, next_start, opens_at, served)
WHERE gate.queue = $1 AND gate.lane = new.lane
