-- Adds to a lease's jobs that were started.
UPDATE lease SET started = (
    SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(lease.started) UNION SELECT value FROM json_each(?2)
    )
)
WHERE number = ?1 AND started IS NOT NULL
