-- Lists schedules by name, or only those that are due.
SELECT *
FROM cadenza.schedule
WHERE NOT $1 OR NOT paused AND next_at <= (SELECT cadenza.cadenza_now())
ORDER BY name COLLATE "C"
