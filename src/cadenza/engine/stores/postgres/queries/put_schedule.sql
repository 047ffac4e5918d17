-- Inserts a schedule or replaces it by name; the revision rises; its past, and its place in an unchanged recurrence, are kept;
-- so is whether it is paused, if the caller asks for that, as the row stands once this has its lock.
INSERT INTO cadenza.schedule (
    name, task, recurrence, payload, queue, priority, lane, options, overlap, missed, paused, next_at, last_at,
    last_note, revision
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (name) DO UPDATE
SET task = excluded.task, recurrence = excluded.recurrence, payload = excluded.payload, queue = excluded.queue,
    priority = excluded.priority, lane = excluded.lane, options = excluded.options, overlap = excluded.overlap,
    missed = excluded.missed,
    paused = CASE WHEN $16 THEN schedule.paused ELSE excluded.paused END,
    next_at = CASE WHEN schedule.recurrence = excluded.recurrence THEN schedule.next_at ELSE excluded.next_at END,
    revision = schedule.revision + 1
RETURNING *
