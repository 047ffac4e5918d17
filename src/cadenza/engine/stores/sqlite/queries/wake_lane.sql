-- Lets the next claim look at a lane, unless it is shut.
UPDATE gate SET standing = CASE
    WHEN paused OR in_flight >= concurrency THEN 3 WHEN opens_at <= ?1 THEN 1 ELSE 2
END
WHERE queue = ?2 AND lane = ?3
