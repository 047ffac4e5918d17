-- Takes running jobs off a gate; a lane that was full may open.
UPDATE gate SET
    in_flight = max(in_flight - ?2, 0),
    standing = CASE
        WHEN standing <> 3 OR paused OR max(in_flight - ?2, 0) >= concurrency THEN standing
        WHEN opens_at <= ?1 THEN 1
        ELSE 2
    END
WHERE queue = ?3 AND lane = ?4
