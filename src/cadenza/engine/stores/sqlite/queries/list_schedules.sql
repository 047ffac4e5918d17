-- Lists schedules by name.
SELECT
    name, task, recurrence, payload, queue, priority, lane, options, overlap, missed,
    paused, next_at, last_at, last_note, revision
FROM schedule
ORDER BY name
