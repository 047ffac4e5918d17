-- Picks the first suspect of a lane, or of no lane.
SELECT id, task, payload, attempts, crashes, run_at, lane, options, schedule, snoozes, progress
FROM job
WHERE queue = ? AND lane IS ? AND state = 3
ORDER BY priority, run_at, id LIMIT 1
