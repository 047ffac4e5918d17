-- Ends jobs of one lease as done, each with its output; pairs come as JSON.
UPDATE job SET
    state = 4, finished_at = ?, attempts = attempts + 1, unique_while = NULL,
    output = json_extract(settled.value, '$[1]')
FROM json_each(?) AS settled
WHERE job.id = json_extract(settled.value, '$[0]') AND lease = ? AND state = 2
