-- Counts jobs by queue and state; reads both tables whole, so it is for people, not for loops.
SELECT queue, state, count(*) FROM cadenza.job GROUP BY queue, state
UNION ALL
SELECT queue, state, count(*) FROM cadenza.job_done GROUP BY queue, state
