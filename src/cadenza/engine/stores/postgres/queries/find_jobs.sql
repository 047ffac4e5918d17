-- Lists jobs newest first, from the live and the finished ones; locks nothing.
(
    SELECT
        job.id, job.queue, task, state, payload, priority, created_at, run_at, attempts, crashes, snoozes, lane,
        unique_key, tags, options, schedule, job.lease, lease.until, lease.worker, cancel_requested, progress,
        NULL::text AS output, errors, NULL::timestamptz AS finished_at
    FROM cadenza.job LEFT JOIN cadenza.lease ON job.state = 2 AND lease.number = job.lease
    WHERE ($2::bigint IS NULL OR job.id < $2)
        AND state = ANY($3::smallint[])
        AND $3::smallint[] && '{0,1,2,3}'  -- else this table need not be looked at
        AND ($4::text IS NULL OR job.queue = $4)
        AND ($5::text IS NULL OR task = $5)
        AND ($6::text IS NULL OR $6 = ANY(tags))
        AND ($7::text IS NULL OR lane = $7)
        AND ($8::text IS NULL OR schedule = $8)
    ORDER BY job.id DESC
    LIMIT $1
)
UNION ALL
(
    SELECT
        id, queue, task, state, payload, priority, created_at, run_at, attempts, crashes, snoozes, lane,
        unique_key, tags, options, schedule, lease, NULL, NULL, cancel_requested, progress,
        output, errors, finished_at
    FROM cadenza.job_done
    WHERE ($2::bigint IS NULL OR id < $2)
        AND state = ANY($3::smallint[])
        AND $3::smallint[] && '{4,5,6}'
        AND ($4::text IS NULL OR queue = $4)
        AND ($5::text IS NULL OR task = $5)
        AND ($6::text IS NULL OR $6 = ANY(tags))
        AND ($7::text IS NULL OR lane = $7)
        AND ($8::text IS NULL OR schedule = $8)
    ORDER BY id DESC
    LIMIT $1
)
ORDER BY id DESC
LIMIT $1
