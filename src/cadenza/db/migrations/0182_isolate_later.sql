-- What processes died with twice is claimed alone; once may be a neighbour's fault.
DROP INDEX delivery_suspect;
CREATE INDEX delivery_suspect ON delivery (workspace_id, lane_id, due_at)
    WHERE crashes > 1 AND state = 'scheduled' AND leased_until IS NULL;
