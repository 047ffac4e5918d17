-- Lets jobs wait again, each only if its lease still holds and nobody asked to cancel it; says which if not all,
-- and closes the leases only then: what is left of them must still be found by a rescue.
WITH back AS (
    UPDATE cadenza.job
    SET state = CASE
            WHEN settled.run_at > (SELECT cadenza.cadenza_now()) THEN 0
            WHEN job.crashes + settled.crashes > 1 THEN 3
            ELSE 1
        END,
        run_at = coalesce(settled.run_at, job.run_at),
        attempts = job.attempts + settled.attempts,
        crashes = job.crashes + settled.crashes,
        snoozes = job.snoozes + settled.snoozes,
        errors = CASE WHEN settled.error IS NULL THEN errors ELSE array_append(errors, settled.error) END
    FROM (
        SELECT id, lease, attempts, crashes, snoozes, coalesce(at, (SELECT cadenza.cadenza_now()) + delay) AS run_at, error
        FROM unnest(
            $1::bigint[], $2::bigint[], $4::integer[], $5::integer[], $6::integer[],
            $7::interval[], $8::timestamptz[], $9::text[]
        ) AS asked (id, lease, attempts, crashes, snoozes, delay, at, error)
    ) AS settled
    WHERE job.id = settled.id AND job.lease = settled.lease AND job.state = 2 AND NOT job.cancel_requested
    RETURNING job.id, job.lease, job.queue, job.lane, job.state
), woken AS (
    INSERT INTO cadenza.wake (queue, lane)
    SELECT DISTINCT queue, lane FROM back WHERE lane IS NOT NULL AND state = 1
), closed AS (
    DELETE FROM cadenza.lease
    WHERE number = ANY($3::bigint[]) AND (SELECT count(*) FROM back) = cardinality($1::bigint[])
), scopes AS MATERIALIZED (
    SELECT queue, '' AS lane, count(*) AS left_ FROM back GROUP BY queue
    UNION ALL
    SELECT queue, lane, count(*) FROM back WHERE lane IS NOT NULL GROUP BY queue, lane
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
)
SELECT
    count(*) AS settled,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(id) END AS ids,
    CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(lease) END AS leases,
    array_agg(DISTINCT queue) AS queues,
    array_agg(DISTINCT queue) FILTER (WHERE state = 1 AND lane IS NULL) AS ready
FROM back
