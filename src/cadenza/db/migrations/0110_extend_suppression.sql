-- Whom a workspace must not write to: by channel or everywhere, with one row for each reason and who gave it.
ALTER TABLE suppression RENAME TO suppression_before;
CREATE TABLE suppression (
    workspace_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('address', 'domain', 'handle')),
    value text NOT NULL,  -- folded; a handle without its @
    channel text NOT NULL DEFAULT 'all',  -- email, linkedin, telegram, …, or all
    reason text NOT NULL CHECK (reason IN ('unsubscribe', 'complaint', 'hard_bounce', 'manual', 'erasure')),
    note text NOT NULL DEFAULT '',
    created_by text NOT NULL DEFAULT 'system',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, kind, value, channel, reason)
);

INSERT INTO suppression (workspace_id, kind, value, reason, note, created_at)
SELECT workspace_id, kind,
    CASE WHEN kind = 'handle' AND value LIKE '@_%' THEN substr(value, 2) ELSE value END,
    CASE WHEN reason IN ('unsubscribe', 'complaint', 'hard_bounce', 'manual', 'erasure') THEN reason ELSE 'manual' END,
    CASE WHEN reason IN ('unsubscribe', 'complaint', 'hard_bounce', 'manual', 'erasure') THEN '' ELSE reason END,
    created_at
FROM suppression_before
WHERE true
ON CONFLICT DO NOTHING;

DROP TABLE suppression_before;
CREATE INDEX suppression_newest ON suppression (workspace_id, created_at, kind, value, channel, reason);
