-- Looks up until when keys are throttled, and by which job.
SELECT key, at, job_id FROM cadenza.marker WHERE kind = 'throttle' AND key = ANY($1::text[])
