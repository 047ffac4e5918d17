-- Makes jobs ready; one that processes died with is a suspect.
UPDATE job SET state = CASE WHEN crashes > 1 THEN 3 ELSE 1 END
WHERE id IN (SELECT value FROM json_each(?))
