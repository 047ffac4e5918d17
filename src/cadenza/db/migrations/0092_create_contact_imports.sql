-- Files of contacts or recipient channels that are imported in the background, and exports of contacts.

CREATE TABLE contact_import (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('contacts', 'channels')),
    name text NOT NULL,  -- of the file
    format text NOT NULL CHECK (format IN ('csv', 'xlsx')),
    bytes bigint NOT NULL,  -- of the CSV that is read
    header text NOT NULL,  -- JSON: the names of its columns
    samples text NOT NULL,  -- JSON: its first rows
    suggested text NOT NULL,  -- JSON: our column to the file's
    delimiter text NOT NULL,
    mapping text,  -- JSON, once it was chosen
    options text,  -- JSON, once they were chosen
    state text NOT NULL CHECK (state IN (
        'uploaded', 'trying', 'tried', 'running', 'done', 'canceled', 'failed', 'undoing', 'undone'
    )),
    reason text,  -- why it failed
    read_offset bigint NOT NULL DEFAULT 0,  -- the cursor: bytes that are done
    read_rows bigint NOT NULL DEFAULT 0,
    created bigint NOT NULL DEFAULT 0,
    updated bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    flagged bigint NOT NULL DEFAULT 0,
    reported bigint NOT NULL DEFAULT 0,  -- rows in contact_import_row
    removed bigint NOT NULL DEFAULT 0,  -- by undoing it
    restored bigint NOT NULL DEFAULT 0,
    kept bigint NOT NULL DEFAULT 0,  -- changed since, so undoing left them
    asked_by text NOT NULL,
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    undo_until timestamptz,
    expires_at timestamptz NOT NULL,  -- from then on its file and report are removed
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX contact_import_newest ON contact_import (workspace_id, asked_at, id);
CREATE INDEX contact_import_ended ON contact_import (expires_at);

-- What became of rows that are worth a word; all counts are in contact_import.
CREATE TABLE contact_import_row (
    workspace_id text NOT NULL,
    import_id text NOT NULL,
    row_number bigint NOT NULL,
    verdict text NOT NULL,  -- created, updated, unchanged, refused
    code text,
    column_name text,
    value text,  -- the cell, shortened
    contact_id text,
    PRIMARY KEY (workspace_id, import_id, row_number),
    FOREIGN KEY (workspace_id, import_id) REFERENCES contact_import (workspace_id, id)
);

-- How contacts were before an import changed them, for a day.
CREATE TABLE contact_import_undo (
    workspace_id text NOT NULL,
    import_id text NOT NULL,
    contact_id text NOT NULL,
    before text NOT NULL,  -- JSON
    listed boolean NOT NULL DEFAULT false,  -- the import put it on the list
    PRIMARY KEY (workspace_id, import_id, contact_id),
    FOREIGN KEY (workspace_id, import_id) REFERENCES contact_import (workspace_id, id)
);

CREATE INDEX contact_import_undo_of ON contact_import_undo (workspace_id, contact_id);

-- What a header meant the last time, so that the next file is mapped by itself.
CREATE TABLE contact_mapping (
    workspace_id text NOT NULL REFERENCES workspace (id),
    kind text NOT NULL,
    header text NOT NULL,  -- folded
    target text NOT NULL,  -- our column; empty: not read
    used_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, kind, header)
);

CREATE TABLE contact_export (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    format text NOT NULL CHECK (format IN ('csv', 'xlsx')),
    audience_id text,
    filter text,  -- JSON; null: all contacts, or the audience's
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'ready', 'failed')),
    reason text,
    rows_done bigint NOT NULL DEFAULT 0,
    rows_total bigint NOT NULL DEFAULT 0,
    bytes bigint,
    asked_by text NOT NULL,
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX contact_export_newest ON contact_export (workspace_id, asked_at, id);
CREATE INDEX contact_export_ended ON contact_export (expires_at);
