-- Waits that networks ask for, by what is to be left alone: an account, one recipient in a network, or a provider's
-- whole app. Permits and claims ask for them; what has passed is removed.
CREATE TABLE network_wait (
    workspace_id text NOT NULL,  -- '' for an app: it is everybody's
    scope text NOT NULL,  -- `account:<id>`, `recipient:<provider>:<address>`, `app:<provider>`
    until_at timestamptz NOT NULL,
    reason text NOT NULL,
    asked_by text NOT NULL CHECK (asked_by IN ('network', 'reconnect')),
    PRIMARY KEY (workspace_id, scope)
);

-- When a delivery was due before a wait that is not its lane's put it off.
ALTER TABLE delivery ADD COLUMN was_due_at timestamptz;
CREATE INDEX delivery_put_off ON delivery (workspace_id, account_id) WHERE was_due_at IS NOT NULL;

-- What waits behind a park is not late for it: since when a lane is held, park after park, and when it was let go.
ALTER TABLE lane ADD COLUMN held_at timestamptz;
ALTER TABLE lane ADD COLUMN opened_at timestamptz;
