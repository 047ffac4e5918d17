-- Which of a lease's jobs were started, as a JSON array of ids: only those count a crash. Null: all.
ALTER TABLE lease ADD COLUMN started TEXT;
