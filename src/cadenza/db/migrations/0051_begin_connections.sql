-- What a person began to connect is bound to the person, not to one session: what the command line began is
-- finished where the network sends the browser. The row stays until it ends, so that whoever began it can ask
-- how it went. Rows last ten minutes, so those of before are dropped: such a person starts again.
DROP TABLE connecting;

CREATE TABLE connecting (
    workspace_id text NOT NULL REFERENCES workspace (id),
    state_hash text NOT NULL UNIQUE,
    person_id text NOT NULL,
    provider text NOT NULL,
    account_id text,  -- the account that is connected again
    sealed text,  -- verifier, and what the network's adapter keeps; wiped when the state is used
    tries bigint NOT NULL DEFAULT 0,  -- wrong answers to a question, such as a mistyped code
    created_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    used_at timestamptz,  -- from then on the state opens nothing
    connected text,  -- the ids of the accounts that it brought, as JSON
    reason text,  -- why it failed
    PRIMARY KEY (workspace_id, state_hash)
);
