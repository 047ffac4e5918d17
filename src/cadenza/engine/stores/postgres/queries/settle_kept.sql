-- Moves plain jobs to the finished ones as done, each only if its lease still holds; none if a gate counts them;
-- says which if not all.
WITH closed AS (
    DELETE FROM cadenza.lease
    WHERE number = ANY($3::bigint[])
        -- A lease stays for as long as one of its jobs does: only through it would a crash be noticed.
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
), gone AS (
    DELETE FROM cadenza.job
    WHERE id = ANY($1::bigint[]) AND state = 2
        -- IS TRUE keeps the pairs in a hash: joined, they cost twice as much.
        AND ((id, lease) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))) IS TRUE
        AND NOT EXISTS (SELECT FROM cadenza.gate WHERE counted AND queue = $4 AND lane = '')
    RETURNING *
), kept AS (
    INSERT INTO cadenza.job_done (
        id, lease, run_at, created_at, finished_at, priority, attempts, crashes, snoozes, state,
        cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, tags, errors
    )
    SELECT
        id, lease, run_at, created_at, (SELECT cadenza.cadenza_now()), priority, attempts + 1, crashes, snoozes, 4,
        cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, tags, errors
    FROM gone
    RETURNING id
), counted AS MATERIALIZED (
    SELECT count(*) AS settled FROM kept
)
SELECT settled, CASE WHEN settled < cardinality($1::bigint[]) THEN ARRAY(SELECT id FROM kept) END AS ids
FROM counted
