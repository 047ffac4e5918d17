-- Moves jobs to the finished ones, each only if its lease still holds; says which if not all.
WITH gone AS (
    DELETE FROM cadenza.job
    USING unnest(
        $1::bigint[], $2::bigint[], $4::smallint[], $5::integer[], $6::integer[], $7::text[], $8::text[]
    ) AS settled (id, lease, ending, attempts, crashes, error, output)
    WHERE job.id = settled.id AND job.lease = settled.lease AND job.state = 2
    RETURNING
        job.*, settled.ending, settled.attempts AS more_attempts, settled.crashes AS more_crashes,
        settled.error, settled.output
), kept AS (
    INSERT INTO cadenza.job_done (
        id, lease, run_at, created_at, finished_at, priority, attempts, crashes, snoozes, state,
        cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, output, tags, errors
    )
    SELECT
        id, lease, run_at, created_at, (SELECT cadenza.cadenza_now()), priority, attempts + more_attempts,
        crashes + more_crashes, snoozes, ending,
        cancel_requested, queue, task, payload, lane, unique_key, options, schedule, progress, output, tags,
        CASE WHEN error IS NULL THEN errors ELSE array_append(errors, error) END
    FROM gone
), closed AS (
    DELETE FROM cadenza.lease WHERE number = ANY($3::bigint[])
), scopes AS MATERIALIZED (
    SELECT queue, '' AS lane, count(*) AS left_ FROM gone GROUP BY queue
    UNION ALL
    SELECT queue, lane, count(*) FROM gone WHERE lane IS NOT NULL GROUP BY queue, lane
), held AS MATERIALIZED (
    SELECT queue, lane, left_
    FROM cadenza.gate JOIN scopes USING (queue, lane)
    WHERE counted
    ORDER BY queue, lane
    FOR UPDATE OF gate
), opened AS (
    UPDATE cadenza.gate SET in_flight = greatest(in_flight - left_, 0)
    FROM held
    WHERE gate.queue = held.queue AND gate.lane = held.lane
    RETURNING gate.queue
)
SELECT
    count(*) AS settled,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(id) END AS ids,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(lease) END AS leases,
    (SELECT array_agg(DISTINCT queue) FROM opened) AS queues
FROM gone
