-- Named sets of recipients: lists of contacts and recipient channels in their order, or saved filters.

CREATE TABLE audience (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('list', 'filter')),
    filter text,  -- JSON, of a saved filter
    size bigint NOT NULL DEFAULT 0,  -- members of a list
    next_position bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 1,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    CHECK ((kind = 'filter') = (filter IS NOT NULL))
);

CREATE UNIQUE INDEX audience_name ON audience (workspace_id, name);

CREATE TABLE audience_member (
    workspace_id text NOT NULL,
    audience_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('contact', 'channel')),
    provider text NOT NULL DEFAULT '',  -- of a recipient channel
    member_id text NOT NULL,  -- of a contact, or of a recipient channel of that provider
    position bigint NOT NULL,
    added_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, audience_id, kind, provider, member_id),
    FOREIGN KEY (workspace_id, audience_id) REFERENCES audience (workspace_id, id)
);

CREATE UNIQUE INDEX audience_member_order ON audience_member (workspace_id, audience_id, position);
CREATE INDEX audience_member_of ON audience_member (workspace_id, kind, provider, member_id);

-- A recipient channel is a row of its own from the day it is known, with its health beside it.
ALTER TABLE recipient_channel ADD COLUMN written text;
ALTER TABLE recipient_channel ADD COLUMN title text;
ALTER TABLE recipient_channel ADD COLUMN category text;
ALTER TABLE recipient_channel ADD COLUMN import_id text;
ALTER TABLE recipient_channel ADD COLUMN created_at timestamptz;
UPDATE recipient_channel SET created_at = changed_at;
CREATE INDEX recipient_channel_category ON recipient_channel (workspace_id, category, provider, id) WHERE category IS NOT NULL;
CREATE INDEX recipient_channel_ill ON recipient_channel (workspace_id, provider, id) WHERE NOT active;
CREATE INDEX recipient_channel_import ON recipient_channel (workspace_id, import_id, provider, id) WHERE import_id IS NOT NULL;
