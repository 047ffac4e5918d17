-- Templates and their versions. A version is never changed: what was planned with one is sent as it was seen.

CREATE TABLE template (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    newest integer NOT NULL DEFAULT 1,  -- the number of its newest version
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,  -- its versions stay for what was planned with them
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX template_name ON template (workspace_id, name) WHERE deleted_at IS NULL;
CREATE INDEX template_in_time ON template (workspace_id, updated_at, id) WHERE deleted_at IS NULL;

CREATE TABLE template_version (
    workspace_id text NOT NULL,
    id text NOT NULL,
    template_id text NOT NULL,
    number integer NOT NULL,
    content text NOT NULL,  -- JSON, as its author wrote it
    compiled text NOT NULL,  -- JSON: literals, values and conditions, by channel
    variables text NOT NULL,  -- JSON: names, and whether each is required
    removed text NOT NULL DEFAULT '[]',  -- JSON: what was taken out of pasted HTML
    saved_by text NOT NULL,
    saved_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, template_id, number),
    FOREIGN KEY (workspace_id, template_id) REFERENCES template (workspace_id, id)
);
