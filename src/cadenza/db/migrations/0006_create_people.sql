-- People, what they sign in with, and what programs are let in by. A person is one over all workspaces;
-- `member` is a person's place in one of them. Of every token only a hash is kept.

CREATE TABLE person (
    id text PRIMARY KEY,
    email text NOT NULL UNIQUE,  -- folded to lower case
    name text NOT NULL,
    password text NOT NULL,  -- argon2id
    zone text NOT NULL DEFAULT 'UTC',
    week_start integer NOT NULL DEFAULT 1 CHECK (week_start BETWEEN 0 AND 6),  -- Sunday is 0
    instance_owner boolean NOT NULL DEFAULT false,
    totp_sealed text,
    totp_on boolean NOT NULL DEFAULT false,
    totp_step bigint NOT NULL DEFAULT 0,  -- the newest step that was used: none is taken twice
    created_at timestamptz NOT NULL,
    password_changed_at timestamptz NOT NULL
);

ALTER TABLE member ADD COLUMN person_id text REFERENCES person (id);
CREATE UNIQUE INDEX member_once ON member (workspace_id, person_id) WHERE person_id IS NOT NULL;
CREATE INDEX member_of_person ON member (person_id) WHERE person_id IS NOT NULL;

-- The door to an empty house: whoever holds this token becomes the first owner.
CREATE TABLE first_start (
    id integer PRIMARY KEY CHECK (id = 1),
    token_hash text NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE TABLE recovery_code (
    person_id text NOT NULL REFERENCES person (id),
    code_hash text NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (person_id, code_hash)
);

CREATE TABLE session (
    token_hash text PRIMARY KEY,
    id text NOT NULL UNIQUE,
    person_id text NOT NULL REFERENCES person (id),
    address text NOT NULL,
    agent text NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    idle_until timestamptz NOT NULL,  -- slides with use
    ends_at timestamptz NOT NULL  -- does not
);

CREATE INDEX session_of_person ON session (person_id);

CREATE TABLE password_reset (
    token_hash text PRIMARY KEY,
    person_id text NOT NULL REFERENCES person (id),
    created_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    used_at timestamptz
);

CREATE TABLE invitation (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    email text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    token_hash text NOT NULL UNIQUE,
    invited_by text NOT NULL,
    created_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

-- What programs are let in by. `prefix` finds the row, `secret_hash` proves it.
CREATE TABLE api_key (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL UNIQUE,
    secret_hash text NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
    scopes text NOT NULL,  -- parted by spaces
    accounts text,  -- ids parted by spaces; null: all
    publish_per_day integer,  -- null: no limit but the accounts' own
    member_id text NOT NULL,  -- who made it; it ends with their membership
    created_at timestamptz NOT NULL,
    ends_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE api_key_day (
    workspace_id text NOT NULL,
    key_id text NOT NULL,
    day text NOT NULL,  -- of UTC
    published integer NOT NULL,
    PRIMARY KEY (workspace_id, key_id, day)
);

-- How often somebody knocked: counters of sign-ins, resets and the like, one row a window.
CREATE TABLE knock (
    name text PRIMARY KEY,
    times integer NOT NULL,
    ends_at timestamptz NOT NULL
);

CREATE INDEX knock_ends ON knock (ends_at);

-- Answers of writes that came with an Idempotency-Key. No status: the first one is still under way.
CREATE TABLE kept_answer (
    workspace_id text NOT NULL,  -- empty for what concerns no workspace
    actor text NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    status integer,
    body text,  -- null where the answer held a secret
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, actor, key)
);

CREATE INDEX kept_answer_age ON kept_answer (created_at);

-- A person was sent to a network and is expected back, in the same session, once.
CREATE TABLE connecting (
    workspace_id text NOT NULL REFERENCES workspace (id),
    state_hash text NOT NULL UNIQUE,
    session_id text NOT NULL,
    provider text NOT NULL,
    account_id text,  -- the account that is connected again
    sealed text NOT NULL,  -- verifier, and what the network's adapter keeps
    created_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, state_hash)
);
