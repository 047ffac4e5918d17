-- Says whether a job in no lane could run now.
SELECT EXISTS (SELECT 1 FROM job WHERE queue = ?1 AND state = 1 AND lane IS NULL)
    OR EXISTS (SELECT 1 FROM job WHERE queue = ?1 AND state = 3 AND lane IS NULL)
