-- Finds the job that holds a unique key.
SELECT id, state, run_at, created_at FROM job WHERE unique_key = ? AND unique_while IS NOT NULL
