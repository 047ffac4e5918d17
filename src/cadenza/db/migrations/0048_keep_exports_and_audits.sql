-- Exports of a workspace that are packed in the background, and kept for a while to be downloaded.
CREATE TABLE workspace_export (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    asked_by text NOT NULL,
    asked_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'ready', 'failed')),
    reason text,  -- why it failed
    rows_done bigint NOT NULL DEFAULT 0,
    rows_total bigint NOT NULL DEFAULT 0,  -- 0: not counted yet
    bytes bigint,
    finished_at timestamptz,
    expires_at timestamptz,  -- from then on it is removed
    PRIMARY KEY (workspace_id, id),
    CHECK (state <> 'ready' OR (bytes IS NOT NULL AND expires_at IS NOT NULL))
);

-- One at a time for each workspace.
CREATE UNIQUE INDEX workspace_export_open ON workspace_export (workspace_id) WHERE state IN ('waiting', 'running');
CREATE INDEX workspace_export_ended ON workspace_export (expires_at) WHERE expires_at IS NOT NULL;

-- How full each rule ever was up to an instant, so that an audit need not replay years of the ledger each time.
CREATE TABLE limit_audited (
    workspace_id text NOT NULL,  -- empty: a provider's rate, over all workspaces
    scope text NOT NULL,
    action text NOT NULL,
    kind text NOT NULL,
    judged_by text NOT NULL,  -- what the figure depends on besides the ledger: another one makes it void
    until_at timestamptz NOT NULL,  -- what was reserved before is in it
    reached double precision NOT NULL,
    at text NOT NULL,
    PRIMARY KEY (workspace_id, scope, action, kind)
);
