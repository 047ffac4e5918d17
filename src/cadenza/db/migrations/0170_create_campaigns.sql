-- Campaigns: a frozen template version to an audience, by accounts in turn, under a rate.
CREATE TABLE campaign (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    audience_id text NOT NULL,
    template_id text NOT NULL,
    template_version_id text NOT NULL,
    channel text NOT NULL,
    params text NOT NULL DEFAULT '{}',  -- JSON: values for all recipients
    mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
    delivery_rate integer CHECK (delivery_rate > 0),  -- a minute; null: as fast as the accounts may
    retry_limit integer NOT NULL DEFAULT 3 CHECK (retry_limit >= 0),
    skip_incomplete boolean NOT NULL DEFAULT false,
    max_error_percent integer NOT NULL DEFAULT 10 CHECK (max_error_percent BETWEEN 1 AND 100),
    start_at timestamptz,
    not_after_at timestamptz,
    state text NOT NULL DEFAULT 'draft' CHECK (state IN (
        'draft', 'scheduled', 'queued', 'running', 'paused', 'completed', 'failed', 'canceled'
    )),
    reason text,  -- why it is paused or failed, for people
    reason_code text,
    planned_to text NOT NULL DEFAULT '',  -- how far its audience has been gone through
    planned boolean NOT NULL DEFAULT false,  -- to the end
    turn bigint NOT NULL DEFAULT 0,  -- of its accounts: whose is the next
    total bigint NOT NULL DEFAULT 0,
    revision integer NOT NULL DEFAULT 1,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    deleted_at timestamptz,  -- what it sent stays, and names it
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, template_version_id) REFERENCES template_version (workspace_id, id)
);

CREATE INDEX campaign_in_time ON campaign (workspace_id, created_at, id);
CREATE INDEX campaign_open ON campaign (state) WHERE state IN ('scheduled', 'queued', 'running', 'canceled');

CREATE TABLE campaign_account (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    account_id text NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (workspace_id, campaign_id, account_id),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id)
);

-- What became of its deliveries. A transaction writes one of the shards, so that two rarely wait for each other.
CREATE TABLE campaign_count (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    shard integer NOT NULL,
    sent bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    unconfirmed bigint NOT NULL DEFAULT 0,
    missed bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    canceled bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, campaign_id, shard),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id)
);

-- Members of the audience for whom no delivery was made, and why.
CREATE TABLE campaign_skip (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    kind text NOT NULL,
    provider text NOT NULL,
    member_id text NOT NULL,
    recipient text,
    code text NOT NULL,
    message text NOT NULL,
    skipped_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, campaign_id, kind, provider, member_id),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id)
);

-- A campaign's deliveries by their state: reports, and what waits or failed of it.
CREATE INDEX delivery_of_campaign_state ON delivery (workspace_id, campaign_id, state, recipient)
    WHERE campaign_id IS NOT NULL;
