-- Rows of files that became posts, by what they say or by a key of their own: the same row again makes no
-- second post, whoever imports it and however often.

CREATE TABLE post_import (
    workspace_id text NOT NULL REFERENCES workspace (id),
    row_key text NOT NULL,  -- `key:` and the row's own, or `row:` and the hash of what it says
    said_hash text NOT NULL,  -- of what it says: a key that comes back with other words is told apart
    post_id text,  -- null only inside the transaction that makes it
    imported_at timestamptz NOT NULL,
    imported_by text NOT NULL,
    PRIMARY KEY (workspace_id, row_key)
);

CREATE INDEX post_import_of_post ON post_import (workspace_id, post_id);
