-- Picks ready jobs of one lane, in order, past those taken already.
SELECT id, task, payload, attempts, crashes, run_at, lane, options, schedule, snoozes, progress
FROM job
WHERE queue = ? AND lane = ? AND lane IS NOT NULL AND state = 1
ORDER BY priority, run_at, id LIMIT ? OFFSET ?
