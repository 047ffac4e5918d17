-- Takes the heads of lanes whose gates the caller holds: lane by lane up to its room, $4 in all.
WITH heads AS MATERIALIZED (
    SELECT head.id
    FROM unnest($2::text[], $3::integer[]) AS asked (lane, room)
    CROSS JOIN LATERAL (
        SELECT id
        FROM cadenza.job
        WHERE queue = $1 AND lane = asked.lane AND lane IS NOT NULL AND state = 1
        ORDER BY priority, run_at, id
        LIMIT asked.room
        FOR UPDATE SKIP LOCKED
    ) AS head
    LIMIT $4
)
UPDATE cadenza.job
SET state = 2, lease = $5, unique_while = nullif(unique_while, 1)
WHERE id = ANY(ARRAY(SELECT id FROM heads))
RETURNING
    id, lease, task, payload, priority, run_at,
    attempts, crashes, snoozes, lane, options, schedule, progress
