-- Lists that recipients see by a name of their own, and who left one of them. A row outlives its list: what was
-- planned for the list must not reach them either.
ALTER TABLE audience ADD COLUMN public_name text;  -- null: recipients don't see the list

CREATE TABLE audience_unsubscribe (
    workspace_id text NOT NULL REFERENCES workspace (id),
    channel text NOT NULL,
    address text NOT NULL,  -- folded
    audience_id text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, channel, address, audience_id)
);

CREATE INDEX audience_unsubscribe_list ON audience_unsubscribe (workspace_id, audience_id);

ALTER TABLE delivery ADD COLUMN audience_id text;  -- the list it goes to: who left that list gets nothing
