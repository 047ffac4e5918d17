-- How an account stands with a network that asks it to slow down: waits in a row for which no time was named, and
-- the pace that the last one left. It wins its own pace back by itself: what holds now is computed, not written.
CREATE TABLE account_pace (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    times integer NOT NULL DEFAULT 0,  -- waits in a row without a named time
    until_at timestamptz NOT NULL,  -- the end of the last wait
    per_hour bigint,  -- what the last wait left; null: posts keep their times
    most_per_hour bigint,  -- what it may do at best: its own limit, or what it did then
    PRIMARY KEY (workspace_id, account_id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

ALTER TABLE campaign ADD COLUMN auto_resume_at timestamptz;  -- when a pause ends by itself
ALTER TABLE campaign ADD COLUMN max_bounce_percent integer NOT NULL DEFAULT 2
    CHECK (max_bounce_percent BETWEEN 1 AND 100);

-- What goes wrong with a campaign, written with each failure: a campaign without any has no row.
CREATE TABLE campaign_trouble (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    failures text NOT NULL DEFAULT '[]',  -- JSON: which results were failures, by their number; the last 200 count
    bounces bigint NOT NULL DEFAULT 0,  -- since the counting began
    sent_before bigint NOT NULL DEFAULT 0,  -- when the counting began: at its start, or when a person resumed it
    refusals text NOT NULL DEFAULT '{}',  -- JSON: how often the content was refused, by what the network said
    PRIMARY KEY (workspace_id, campaign_id),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id)
);

CREATE INDEX campaign_resumes ON campaign (auto_resume_at) WHERE auto_resume_at IS NOT NULL;
