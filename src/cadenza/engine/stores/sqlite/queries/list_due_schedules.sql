-- Lists open schedules whose time has come.
SELECT name, task, recurrence, payload, queue, priority, lane, options, overlap, missed,
    paused, next_at, last_at, last_note, revision
FROM schedule
WHERE paused = 0 AND next_at <= ?
ORDER BY name
