-- Inserts or replaces a schedule.
INSERT OR REPLACE INTO schedule (
    name, task, recurrence, payload, queue, priority, lane, options, overlap, missed,
    paused, next_at, last_at, last_note, revision
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
