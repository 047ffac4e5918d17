-- Lists of posts by how they show, without a look at every post. A post that never had a delivery is known by
-- itself; all others that are not simply published are found by the state of one of their deliveries.
ALTER TABLE post ADD COLUMN planned boolean NOT NULL DEFAULT false;  -- it has, or had, a delivery
UPDATE post SET planned = true WHERE EXISTS (
    SELECT 1 FROM delivery WHERE delivery.workspace_id = post.workspace_id AND delivery.post_id = post.id
);
CREATE INDEX post_unplanned ON post (workspace_id, created_at, id) WHERE deleted_at IS NULL AND NOT planned;
CREATE INDEX delivery_of_state ON delivery (workspace_id, state, due_at, id) WHERE state <> 'sent';
-- What was called lately, over all workspaces.
CREATE INDEX attempt_in_time ON attempt (began_at);
