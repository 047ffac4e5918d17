-- Files that posts send along. A row stands before its file is written and outlives it, so that a crash
-- leaves a row to clean up after and never a file that nobody knows of.

CREATE TABLE media (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    file text NOT NULL,  -- its name in the storage, by content and row: never reused, never what a person typed
    kind text NOT NULL CHECK (kind IN ('image', 'gif', 'video', 'document')),
    mime text NOT NULL,  -- by content, not by name
    size bigint NOT NULL CHECK (size > 0),
    width integer,  -- as shown: after the orientation that the file asks for
    height integer,
    seconds double precision,
    sha256 text NOT NULL,  -- of what is stored: the same content twice is one row
    name text NOT NULL,  -- what the person called it, made harmless; shown, never a path
    alt text NOT NULL DEFAULT '',
    thumbnail text,  -- its name in the storage
    notes text NOT NULL DEFAULT '[]',  -- JSON: what was done to it, e.g. that a place was taken out
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    stored_at timestamptz,  -- its file is whole; null: the upload is under way, or was cut short
    idle_at timestamptz,  -- since when a sweep has seen nobody use or keep it
    deleted_at timestamptz,  -- nobody may use it any more; its bytes go later
    removed_at timestamptz,  -- its bytes are gone; the row stays while a post's history names it
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX media_once ON media (workspace_id, sha256) WHERE deleted_at IS NULL;
CREATE INDEX media_newest ON media (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX media_idle ON media (idle_at) WHERE idle_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX media_deleted ON media (deleted_at) WHERE deleted_at IS NOT NULL AND removed_at IS NULL;
CREATE INDEX media_cut_short ON media (created_at) WHERE stored_at IS NULL AND deleted_at IS NULL;

-- Which posts show it.
CREATE TABLE media_use (
    workspace_id text NOT NULL,
    media_id text NOT NULL,
    post_id text NOT NULL,
    PRIMARY KEY (workspace_id, media_id, post_id),
    FOREIGN KEY (workspace_id, media_id) REFERENCES media (workspace_id, id)
);

CREATE INDEX media_use_of_post ON media_use (workspace_id, post_id);

-- Who else wants it kept although no post shows it yet: `asset:<id>` of a pool that a rule picks from.
CREATE TABLE media_keep (
    workspace_id text NOT NULL,
    media_id text NOT NULL,
    keeper text NOT NULL,
    PRIMARY KEY (workspace_id, media_id, keeper),
    FOREIGN KEY (workspace_id, media_id) REFERENCES media (workspace_id, id)
);

CREATE INDEX media_keep_of_keeper ON media_keep (workspace_id, keeper);
