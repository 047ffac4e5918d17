-- Versions of a message that are tried against each other; the campaign's own is the first.
CREATE TABLE campaign_variant (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    position integer NOT NULL,
    template_id text NOT NULL,
    template_version_id text NOT NULL,
    sent bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    replies bigint NOT NULL DEFAULT 0,
    clicks bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, campaign_id, position),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id),
    FOREIGN KEY (workspace_id, template_version_id) REFERENCES template_version (workspace_id, id)
);

ALTER TABLE campaign ADD COLUMN split_percent integer NOT NULL DEFAULT 100  -- of the audience; the rest gets the winner
    CHECK (split_percent BETWEEN 1 AND 100);
ALTER TABLE campaign ADD COLUMN split_state text CHECK (split_state IN ('testing', 'waiting', 'decided'));
ALTER TABLE campaign ADD COLUMN winner_by text NOT NULL DEFAULT 'hand' CHECK (winner_by IN ('hand', 'replies', 'clicks'));
ALTER TABLE campaign ADD COLUMN winner_after_minutes integer NOT NULL DEFAULT 240 CHECK (winner_after_minutes > 0);
ALTER TABLE campaign ADD COLUMN winner_at timestamptz;  -- when it is chosen by itself
ALTER TABLE campaign ADD COLUMN winner integer;  -- the variant's position
