-- Finds jobs whose time has come, as one row of two JSON arrays, so many at most.
SELECT json_group_array(id), json_group_array(DISTINCT lane)
FROM (
    SELECT id, lane FROM job WHERE queue = ? AND state = 0 AND run_at <= ?
    ORDER BY run_at LIMIT ?
)
