-- What a process died with: claimed alone, so that only what keeps killing its process is given up.
CREATE INDEX delivery_suspect ON delivery (workspace_id, lane_id, due_at)
    WHERE crashes > 0 AND state = 'scheduled' AND leased_until IS NULL;
