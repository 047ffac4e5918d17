-- When a lane was last served: of lanes that may be looked at, the one that waits longest for its turn comes first.
ALTER TABLE lane ADD COLUMN served_at timestamptz;

DROP INDEX lane_runnable;
CREATE INDEX delivery_lane_turn ON lane ((CASE WHEN served_at > runnable_at THEN served_at ELSE runnable_at END))
    WHERE NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit;
