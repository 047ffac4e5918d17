-- Addresses that calendar programs read a workspace's calendar by: the token is shown once, its hash is kept.

CREATE TABLE calendar_feed (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    token_hash text NOT NULL,
    accounts text,  -- JSON; null: all
    member_id text NOT NULL,  -- who made it: it ends with their membership
    created_at timestamptz NOT NULL,
    read_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX calendar_feed_token ON calendar_feed (workspace_id, token_hash);
