-- Deliveries in time order: of posts (the calendar, what is due soon), and all others. Each stands in one of the two.
DROP INDEX delivery_in_time;
CREATE INDEX delivery_in_time ON delivery (workspace_id, due_at, id) WHERE post_id IS NOT NULL;
CREATE INDEX delivery_of_no_post ON delivery (workspace_id, due_at, id) WHERE post_id IS NULL;
