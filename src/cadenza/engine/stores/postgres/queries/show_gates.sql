-- Lists gates; what an unlimited queue runs is counted here, because nobody else keeps count of it.
SELECT
    queue, lane, paused, reason, parked_until, concurrency, rate_count, rate_per, rate_burst, next_start,
    CASE WHEN counted THEN in_flight ELSE (
        SELECT count(*)::integer
        FROM cadenza.lease
            CROSS JOIN LATERAL unnest(coalesce(jobs, ARRAY(SELECT generate_series(first_job, last_job)))) AS held (id)
            JOIN cadenza.job ON job.id = held.id AND job.lease = lease.number AND job.state = 2
        WHERE lease.queue = gate.queue
    ) END AS in_flight
FROM cadenza.gate
