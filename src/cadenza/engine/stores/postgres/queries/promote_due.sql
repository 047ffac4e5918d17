-- Makes jobs ready whose time has come; two callers share the work and never wait for each other.
WITH due AS MATERIALIZED (
    SELECT id
    FROM cadenza.job
    WHERE queue = $1 AND state = 0 AND run_at <= (SELECT cadenza.cadenza_now())
    ORDER BY run_at
    LIMIT 1000
    FOR UPDATE SKIP LOCKED
), moved AS (
    UPDATE cadenza.job SET state = CASE WHEN crashes > 1 THEN 3 ELSE 1 END
    FROM due
    WHERE job.id = due.id
    RETURNING queue, lane
), woken AS (
    INSERT INTO cadenza.wake (queue, lane)
    SELECT DISTINCT queue, lane FROM moved WHERE lane IS NOT NULL
)
SELECT count(*) FROM moved
