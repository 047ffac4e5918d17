-- Reads one schedule.
SELECT name, task, recurrence, payload, queue, priority, lane, options, overlap, missed,
    paused, next_at, last_at, last_note, revision
FROM schedule
WHERE name = ?
