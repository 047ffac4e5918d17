-- Makes jobs ready; one that a process died with is ready to be run alone.
UPDATE job SET state = CASE WHEN crashes THEN 3 ELSE 1 END
WHERE id IN (SELECT value FROM json_each(?))
