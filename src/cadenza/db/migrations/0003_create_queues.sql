-- Weekly slots of an account and what people did to its queue. Where a delivery stands in the queue is its
-- instant; nothing here repeats that.

CREATE TABLE queue (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    name text NOT NULL DEFAULT '',
    slots text NOT NULL DEFAULT '{}',  -- JSON: weekday (0 is Sunday) -> times, each with gap and fold if its own
    max_per_day integer CHECK (max_per_day > 0),  -- null: the workspace's
    enabled boolean NOT NULL DEFAULT true,  -- false: nothing new is allocated, what is there still goes
    blackouts text NOT NULL DEFAULT '[]',  -- JSON: local dates
    revision bigint NOT NULL DEFAULT 0,  -- rises with every change of the queue
    tz_version text NOT NULL,  -- of the tz database that its instants were resolved with
    paused_at timestamptz,  -- the lane says whether, why and until when; here: since when and by whom
    paused_by text,
    dry_at timestamptz,  -- since when it is known to run dry: one incident, one notice
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, account_id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

-- An exception for one instant: shown, removable, over when its instant has passed.
CREATE TABLE queue_skip (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    slot_at timestamptz NOT NULL,
    skipped_by text NOT NULL,
    reason text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, account_id, slot_at)
);

-- One clearing, so that it can be undone for a while.
CREATE TABLE queue_clear (
    workspace_id text NOT NULL,
    id text NOT NULL,
    account_id text,
    post_id text,
    cleared_by text NOT NULL,
    cleared_at timestamptz NOT NULL,
    undone_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

-- The accounts that a person queued for last: the default of the next time.
CREATE TABLE queue_habit (
    workspace_id text NOT NULL,
    author text NOT NULL,
    accounts text NOT NULL,  -- JSON: ids
    used_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, author)
);

ALTER TABLE workspace ADD COLUMN max_per_day integer;
ALTER TABLE delivery ADD COLUMN pinned text;  -- why it stays at an instant that is no slot any more
ALTER TABLE delivery ADD COLUMN clear_id text;

-- What counts on a day, and what is held there, hand-timed or not.
CREATE INDEX delivery_of_day ON delivery (workspace_id, account_id, due_at)
    WHERE action = 'post' AND state IN ('draft', 'scheduled', 'sending', 'sent', 'unconfirmed');
CREATE INDEX delivery_cleared ON delivery (workspace_id, clear_id) WHERE clear_id IS NOT NULL;
CREATE INDEX delivery_missed ON delivery (workspace_id, account_id, due_at) WHERE state = 'missed';
-- Lanes whose next post is one too many for its day: the queue moves it on.
CREATE INDEX lane_overfull ON lane (workspace_id, id) WHERE parked_by = 'max per day';
