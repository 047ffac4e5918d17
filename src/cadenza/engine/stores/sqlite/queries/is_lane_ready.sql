-- Says whether a lane really has a ready job.
SELECT EXISTS (SELECT 1 FROM job WHERE queue = ? AND lane = ? AND lane IS NOT NULL AND state = 1)
