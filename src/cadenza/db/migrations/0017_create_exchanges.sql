-- What was said with a network about a delivery: bounded, without secrets, for some weeks. Rows are added with
-- the outcome that they led to, and removed by age; nothing but people's reading hangs on them.
CREATE TABLE exchange (
    workspace_id text NOT NULL,
    id text NOT NULL,
    delivery_id text NOT NULL,
    attempt_id text,  -- null: it never came to the irreversible call
    step text NOT NULL CHECK (step IN ('prepare', 'publish', 'finish', 'find_out')),
    began_at timestamptz NOT NULL,
    told text NOT NULL,  -- JSON
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX exchange_of_delivery ON exchange (workspace_id, delivery_id, began_at);
CREATE INDEX exchange_old ON exchange (began_at);
