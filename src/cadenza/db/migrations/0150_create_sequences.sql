-- Sequences: steps that people are written to, the accounts that write, and who is enrolled.

CREATE TABLE sequence (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'running', 'paused', 'ended')),
    state_reason text,
    assignment text NOT NULL DEFAULT 'round_robin' CHECK (assignment IN ('round_robin', 'balanced', 'sticky')),
    turn bigint NOT NULL DEFAULT 0,  -- of round robin: which account is next, kept for whoever is added later
    shortest_gap integer NOT NULL DEFAULT 300,  -- planned seconds between two messages of an account
    longest_gap integer NOT NULL DEFAULT 1200,
    even boolean NOT NULL DEFAULT false,  -- spread over the day instead
    recipient_hours boolean NOT NULL DEFAULT false,  -- within the same hours of the recipient's zone too
    stop_on text NOT NULL,  -- JSON: reply, bounce, accepted
    next_position bigint NOT NULL DEFAULT 0,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    CHECK (0 <= shortest_gap AND shortest_gap <= longest_gap)
);

CREATE UNIQUE INDEX sequence_name ON sequence (workspace_id, name);

CREATE TABLE sequence_step (
    workspace_id text NOT NULL,
    sequence_id text NOT NULL,
    number integer NOT NULL,  -- from 0
    channel text NOT NULL,
    wait_days integer NOT NULL DEFAULT 0 CHECK (wait_days >= 0),  -- open days of the account after the step before
    only_if text CHECK (only_if IN ('accepted')),
    same_thread boolean NOT NULL DEFAULT false,
    variants text NOT NULL,  -- JSON: template versions with their shares
    PRIMARY KEY (workspace_id, sequence_id, number),
    FOREIGN KEY (workspace_id, sequence_id) REFERENCES sequence (workspace_id, id)
);

CREATE TABLE sequence_account (
    workspace_id text NOT NULL,
    sequence_id text NOT NULL,
    account_id text NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (workspace_id, sequence_id, account_id),
    FOREIGN KEY (workspace_id, sequence_id) REFERENCES sequence (workspace_id, id)
);

CREATE INDEX sequence_of_account ON sequence_account (workspace_id, account_id);

CREATE TABLE sequence_contact (
    workspace_id text NOT NULL,
    sequence_id text NOT NULL,
    contact_id text NOT NULL,
    position bigint NOT NULL,
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'planned', 'paused', 'snoozed', 'finished', 'stopped')),
    cause text,  -- why it stopped, or what it waits for
    detail text,
    account_id text,  -- who writes the next step
    next_step integer NOT NULL DEFAULT 0,
    messages text,  -- JSON: ready-made ones, instead of the sequence's steps
    ready_at timestamptz NOT NULL,  -- not before this is the next step planned
    last_sent_at timestamptz,
    thread_id text,  -- the last mail's id over there, which a step of the same thread answers
    thread_subject text,
    accepted_at timestamptz,
    replied_at timestamptz,
    bounced_at timestamptz,
    event_step integer,  -- the step that was answered or bounced
    added_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, sequence_id, contact_id),
    FOREIGN KEY (workspace_id, sequence_id) REFERENCES sequence (workspace_id, id)
);

CREATE UNIQUE INDEX sequence_contact_order ON sequence_contact (workspace_id, sequence_id, position);
-- What the planner takes next: who has no account yet, and each account's own.
CREATE INDEX sequence_contact_waits ON sequence_contact (workspace_id, sequence_id, account_id, position)
    WHERE state = 'waiting';
CREATE INDEX sequence_contact_ready ON sequence_contact (ready_at) WHERE state IN ('waiting', 'snoozed');
CREATE INDEX sequence_of_contact ON sequence_contact (workspace_id, contact_id);

-- What an account has planned of an action: all that planners count against its limits.
CREATE INDEX delivery_planned ON delivery (workspace_id, account_id, due_at)
    WHERE state IN ('draft', 'scheduled') AND action IN ('email', 'message', 'connection_request', 'inmail');
