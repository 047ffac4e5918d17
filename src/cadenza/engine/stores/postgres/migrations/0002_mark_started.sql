-- Which of a lease's jobs were started: only those count a crash. Null: all.
ALTER TABLE lease ADD COLUMN started bigint[];
