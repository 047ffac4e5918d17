-- Deletes finished jobs that are old enough, oldest first; two callers share the work.
WITH old AS MATERIALIZED (
    SELECT id
    FROM cadenza.job_done
    WHERE finished_at < (SELECT cadenza.cadenza_now()) - least($1::interval, $2::interval)
        AND finished_at < (SELECT cadenza.cadenza_now()) - CASE WHEN state = 5 THEN $2::interval ELSE $1::interval END
    ORDER BY finished_at
    LIMIT $3
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM cadenza.job_done USING old WHERE job_done.id = old.id RETURNING job_done.id
)
SELECT count(*) FROM gone
