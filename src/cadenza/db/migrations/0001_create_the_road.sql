-- Workspaces, accounts and the one road that deliveries take. Every table carries its workspace, so that
-- data can later be spread by it. Types are PostgreSQL's words; SQLite takes them as they are.

CREATE TABLE workspace (
    id text PRIMARY KEY,
    name text NOT NULL,
    zone text NOT NULL,
    active boolean NOT NULL DEFAULT true,
    stopped_at timestamptz,  -- nothing of the workspace leaves from here on
    stop_reason text,
    recipient_cap integer CHECK (recipient_cap > 0),  -- outreach to one recipient, in so many days; null: any
    recipient_cap_days integer CHECK (recipient_cap_days > 0),
    created_at timestamptz NOT NULL
);

-- This database as a whole, in one row: whether it may send. A file outside remembers generation and epoch,
-- so that a database that went back in time is known by its lower numbers.
CREATE TABLE installation (
    id text PRIMARY KEY CHECK (id = 'this'),
    lineage text NOT NULL,  -- drawn once: another database has another
    accepted text NOT NULL DEFAULT '[]',  -- JSON: lineages whose witnesses a person said may be forgotten
    generation bigint NOT NULL DEFAULT 1,  -- rises when a person confirms a restore
    epoch bigint NOT NULL DEFAULT 1,  -- rises with each sign of life of any process
    beat_at timestamptz NOT NULL,  -- the last sign of life, by the database's clock
    held_at timestamptz,  -- nothing leaves from here on, until a person confirms
    hold_kind text CHECK (hold_kind IN ('restore', 'clock')),
    hold_reason text,
    created_at timestamptz NOT NULL
);

CREATE TABLE member (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, email)
);

-- Who sends. Credentials are sealed; the key that opens them is not in the database.
CREATE TABLE account (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    provider text NOT NULL,
    remote_id text NOT NULL,
    handle text NOT NULL DEFAULT '',
    zone text NOT NULL,
    state text NOT NULL DEFAULT 'connected'
        CHECK (state IN ('connected', 'expiring', 'needs_reconnect', 'suspended', 'disabled')),
    state_reason text,
    sealed text,
    token_expires_at timestamptz,
    token_issued_at timestamptz,  -- by a connect or a refresh: with the expiry, the token's life
    token_refreshed_at timestamptz,
    refresh_until timestamptz,  -- one process refreshes until then; past and not null: it was cut short
    refresh_lease bigint NOT NULL DEFAULT 0,  -- only ever rises: a late answer of an older refresh matches nothing
    refresh_after_at timestamptz,  -- the last refresh failed for a while: not again before
    lost_at timestamptz,  -- since when it needs a reconnect: one incident
    reminders integer NOT NULL DEFAULT 0,  -- of this incident
    grace_minutes integer NOT NULL DEFAULT 60,  -- how late a post may still leave
    unconfirmed_policy text NOT NULL DEFAULT 'ask' CHECK (unconfirmed_policy IN ('ask', 'assume_sent')),
    settings text NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, provider, remote_id)
);

CREATE INDEX account_expires ON account (token_expires_at) WHERE token_expires_at IS NOT NULL;
CREATE INDEX account_refreshing ON account (refresh_until) WHERE refresh_until IS NOT NULL;
CREATE INDEX account_lost ON account (lost_at) WHERE lost_at IS NOT NULL;

-- Where deliveries wait their turn: one row an account, one a campaign. A claim looks at lanes, not at
-- deliveries, so a million that wait in a closed lane cost nothing.
CREATE TABLE lane (
    workspace_id text NOT NULL,
    id text NOT NULL,
    account_id text,
    campaign_id text,
    paused boolean NOT NULL DEFAULT false,
    paused_until timestamptz,
    pause_reason text,
    parked_until timestamptz,  -- a wait that the other side or a budget asked for
    park_reason text,
    parked_by text,  -- the gate that asked for it; what a budget gives back ends its parks
    runnable_at timestamptz,  -- when its first waiting delivery may be looked at; null: none waits
    in_flight integer NOT NULL DEFAULT 0,
    in_flight_limit integer NOT NULL DEFAULT 1,
    epoch bigint NOT NULL DEFAULT 0,  -- rises with each pause and clear: what was claimed before is stale
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lane_runnable ON lane (runnable_at)
    WHERE NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit;

-- This content, by this account, to this place, at this instant.
CREATE TABLE delivery (
    workspace_id text NOT NULL,
    id text NOT NULL,
    lane_id text NOT NULL,
    account_id text NOT NULL,
    channel text NOT NULL,
    action text NOT NULL
        CHECK (action IN ('email', 'message', 'connection_request', 'inmail', 'post', 'broadcast')),
    post_id text,
    campaign_id text,
    recipient text,  -- address, chat or profile, where the channel has one
    state text NOT NULL CHECK (state IN (
        'draft', 'scheduled', 'sending', 'sent', 'failed', 'unconfirmed', 'missed', 'canceled', 'skipped'
    )),
    reason text,
    due_at timestamptz NOT NULL,
    wall_time text,  -- what the person chose, in `zone`; the instant above is what it came to
    zone text,
    slot_at timestamptz,
    not_after_at timestamptz,
    priority integer NOT NULL DEFAULT 0,
    content text NOT NULL,  -- JSON, complete for its channel
    revision integer NOT NULL DEFAULT 1,
    approved boolean NOT NULL DEFAULT false,
    mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
    prepared text,  -- JSON: what the adapter made ready over there
    parts_sent text NOT NULL DEFAULT '[]',  -- JSON: remote ids of a thread's parts
    attempts integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    deferrals integer NOT NULL DEFAULT 0,
    retry_limit integer NOT NULL DEFAULT 3,
    lease bigint NOT NULL DEFAULT 0,  -- only ever rises: a stale worker's number matches nothing
    leased_until timestamptz,
    worker text,
    remote_id text,
    url text,
    created_at timestamptz NOT NULL,
    sent_at timestamptz,
    failed_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, lane_id) REFERENCES lane (workspace_id, id),
    CHECK (sent_at IS NULL OR failed_at IS NULL),
    CHECK (state <> 'failed' OR (reason IS NOT NULL AND failed_at IS NOT NULL)),
    CHECK (state <> 'sent' OR sent_at IS NOT NULL)
);

-- The heads of lanes, and when the first of them is due.
CREATE INDEX delivery_due ON delivery (workspace_id, lane_id, due_at)
    WHERE state = 'scheduled' AND leased_until IS NULL;
CREATE INDEX delivery_waiting ON delivery (workspace_id, lane_id, priority, due_at, id)
    WHERE state = 'scheduled' AND leased_until IS NULL;
CREATE INDEX delivery_leased ON delivery (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX delivery_in_doubt ON delivery (workspace_id, due_at) WHERE state = 'unconfirmed';
CREATE INDEX delivery_to ON delivery (workspace_id, recipient)
    WHERE recipient IS NOT NULL AND state IN ('draft', 'scheduled');
CREATE INDEX delivery_of_post ON delivery (workspace_id, post_id) WHERE post_id IS NOT NULL;
-- Double booking is impossible for any number of writers.
CREATE UNIQUE INDEX delivery_slot ON delivery (workspace_id, account_id, slot_at)
    WHERE slot_at IS NOT NULL AND state IN ('draft', 'scheduled', 'sending', 'unconfirmed');
CREATE UNIQUE INDEX delivery_once ON delivery (workspace_id, post_id, account_id, channel)
    WHERE post_id IS NOT NULL AND recipient IS NULL AND state NOT IN ('canceled', 'skipped');

-- One irreversible call: its intent before, its evidence after. Rows are added and completed, never removed.
CREATE TABLE attempt (
    workspace_id text NOT NULL,
    id text NOT NULL,
    delivery_id text NOT NULL,
    number integer NOT NULL,
    part integer NOT NULL DEFAULT 0,
    lease bigint NOT NULL,
    key text NOT NULL,  -- what the other side may know a repetition by
    content_hash text NOT NULL,
    began_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,  -- the call has ended by then, one way or the other
    outcome text,
    says text,
    remote_id text,
    url text,
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, delivery_id) REFERENCES delivery (workspace_id, id)
);

CREATE INDEX attempt_of_delivery ON attempt (workspace_id, delivery_id, number);

-- The ledger: every reservation and what became of it. Counters are derived from it and audited against it.
CREATE TABLE activity (
    workspace_id text NOT NULL,
    id text NOT NULL,
    account_id text NOT NULL,
    action text NOT NULL,
    mode text NOT NULL,
    delivery_id text,
    attempt_id text,
    campaign_id text,
    lane_id text,  -- whose limits it counts in beside the account's
    recipient text,  -- of outreach, folded: how often one person was written to
    state text NOT NULL CHECK (state IN ('reserved', 'success', 'unconfirmed', 'rejected', 'refunded', 'external')),
    counts boolean NOT NULL,
    reserved_at timestamptz NOT NULL,
    settled_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX activity_of_account ON activity (workspace_id, account_id, action, mode, reserved_at);
CREATE INDEX activity_of_attempt ON activity (workspace_id, attempt_id);
CREATE INDEX activity_of_recipient ON activity (workspace_id, recipient, reserved_at)
    WHERE recipient IS NOT NULL AND counts;

-- A recipient in a network, as soon as something failed for good: no row, nothing failed.
CREATE TABLE recipient_channel (
    workspace_id text NOT NULL,
    provider text NOT NULL,
    id text NOT NULL,  -- address, chat or profile, folded
    active boolean NOT NULL DEFAULT true,
    error_count integer NOT NULL DEFAULT 0,  -- in a row; a success begins anew
    reason text,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, provider, id)
);

-- Recipients that failed for good with one account since its last success: many different ones in a row
-- are the account's own fault, and their counts are undone.
CREATE TABLE recipient_failure (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    id text NOT NULL,
    times integer NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, account_id, id)
);

-- What may be done: one row a rule. A scope is `account:<id>`, whatever lane its deliveries wait in, or the
-- name of another lane: a campaign's. `action` '*' counts all of them together.
CREATE TABLE budget (
    workspace_id text NOT NULL,
    scope text NOT NULL,
    action text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('hour', 'day', 'week', 'rolling_day', 'rate', 'gap')),
    amount integer NOT NULL,  -- how many; of a gap: seconds
    per_seconds integer,  -- of a rate
    PRIMARY KEY (workspace_id, scope, action, kind)
);

-- Counters of budgets, one row a rule and period; `free_at` is when a rate or gap allows the next.
CREATE TABLE bucket (
    workspace_id text NOT NULL,
    scope text NOT NULL,
    action text NOT NULL,
    mode text NOT NULL,
    kind text NOT NULL,
    period text NOT NULL,  -- a local date, an hour, a week; '' where there is none
    taken integer NOT NULL DEFAULT 0,
    free_at timestamptz,
    PRIMARY KEY (workspace_id, scope, action, mode, kind, period)
);

-- What all accounts of a provider may do together: an operator's limit. Workers lease its starts in blocks.
CREATE TABLE provider_rate (
    provider text PRIMARY KEY,
    amount integer NOT NULL CHECK (amount > 0),
    per_seconds integer NOT NULL CHECK (per_seconds > 0),
    free_at timestamptz  -- the first start that nobody has leased
);

CREATE TABLE suppression (
    workspace_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('address', 'domain', 'handle')),
    value text NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, kind, value)
);

-- What is to be told to people and programs, written in the transaction that causes it.
CREATE TABLE outbox (
    workspace_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject_id text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    told_at timestamptz,  -- its notices are written, one for each medium and person or program
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX outbox_waiting ON outbox (created_at) WHERE told_at IS NULL;

-- One thing to tell by one medium to one person or program. Those of one person and group go together.
CREATE TABLE notice (
    workspace_id text NOT NULL,
    outbox_id text NOT NULL,
    medium text NOT NULL CHECK (medium IN ('email', 'webhook')),
    target_id text NOT NULL,  -- a member or a webhook
    group_key text NOT NULL,
    due_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    lease bigint NOT NULL DEFAULT 0,
    leased_until timestamptz,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'told', 'failed', 'dropped')),
    reason text,
    told_at timestamptz,
    PRIMARY KEY (workspace_id, outbox_id, medium, target_id),
    FOREIGN KEY (workspace_id, outbox_id) REFERENCES outbox (workspace_id, id)
);

CREATE INDEX notice_waiting ON notice (due_at) WHERE state = 'waiting';
CREATE INDEX notice_group ON notice (workspace_id, medium, target_id, group_key) WHERE state = 'waiting';

-- What a person wants to hear of; no row: the default of the kind.
CREATE TABLE notice_choice (
    workspace_id text NOT NULL,
    member_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('published', 'failed', 'account')),
    choice text NOT NULL CHECK (choice IN ('each', 'digest', 'off')),
    PRIMARY KEY (workspace_id, member_id, kind),
    FOREIGN KEY (workspace_id, member_id) REFERENCES member (workspace_id, id)
);

-- Programs that are told. The signing secret is sealed like an account's credentials.
CREATE TABLE webhook (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    url text NOT NULL,
    sealed text NOT NULL,
    kinds text NOT NULL DEFAULT '*',  -- kinds of outbox rows, parted by spaces
    active boolean NOT NULL DEFAULT true,
    stop_reason text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

-- Who did what. Rows are only added.
CREATE TABLE audit (
    workspace_id text NOT NULL,
    id text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject_id text NOT NULL,
    before text,
    after text,
    happened_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX audit_of_subject ON audit (workspace_id, subject_id, happened_at);
CREATE INDEX audit_in_time ON audit (workspace_id, happened_at);
