-- How far a network was asked for replies and acceptances, where it may not tell us by itself.
CREATE TABLE inbound_poll (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    since_at timestamptz NOT NULL,  -- what came later was not read yet
    relations text,  -- JSON: the newest relations that are known; null: they were never read
    relations_at timestamptz,  -- when they were read last
    read_until timestamptz,  -- somebody asks now
    polled_at timestamptz,
    next_poll_at timestamptz NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    error text,  -- why the last poll failed
    PRIMARY KEY (workspace_id, account_id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

CREATE INDEX inbound_poll_next ON inbound_poll (next_poll_at);
