-- Removes finished jobs that are old enough, by two indexes of age.
DELETE FROM job WHERE id IN (
    SELECT id FROM (SELECT id FROM job WHERE state IN (4, 6) AND finished_at < ? LIMIT ?)
    UNION ALL
    SELECT id FROM (SELECT id FROM job WHERE state = 5 AND finished_at < ? LIMIT ?)
    LIMIT ?
)
