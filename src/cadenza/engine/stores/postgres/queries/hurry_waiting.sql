-- Makes waiting jobs, which the caller holds, due now.
WITH moved AS (
    UPDATE cadenza.job
    SET run_at = least(run_at, (SELECT cadenza.cadenza_now())), state = CASE WHEN crashes > 1 THEN 3 ELSE 1 END
    WHERE id = ANY($1::bigint[]) AND state <> 2
    RETURNING id, queue, lane, state
), woken AS (
    INSERT INTO cadenza.wake (queue, lane)
    SELECT DISTINCT queue, lane FROM moved WHERE lane IS NOT NULL AND state = 1
)
SELECT id, queue FROM moved
