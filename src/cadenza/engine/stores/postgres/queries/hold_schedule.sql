-- Holds a schedule if it still stands where the caller saw it; of two callers the second finds it moved.
SELECT name FROM cadenza.schedule WHERE name = $1 AND revision = $2 AND next_at = $3 FOR UPDATE
