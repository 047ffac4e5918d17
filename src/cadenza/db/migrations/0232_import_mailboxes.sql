-- Many mailboxes from one file: each row is checked by itself, in the background.
CREATE TABLE mailbox_import (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    check_only boolean NOT NULL,  -- sign in, and connect nothing
    asked_by text NOT NULL,
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE mailbox_import_row (
    workspace_id text NOT NULL,
    import_id text NOT NULL,
    number integer NOT NULL,  -- of the row in the file, the header not counted
    address text NOT NULL,
    fields text NOT NULL,  -- JSON: all but the secrets
    sealed text,  -- the secrets, until the row is done
    state text NOT NULL CHECK (state IN ('waiting', 'connected', 'checked', 'failed', 'refused')),
    message text NOT NULL DEFAULT '',
    account_id text,
    PRIMARY KEY (workspace_id, import_id, number),
    FOREIGN KEY (workspace_id, import_id) REFERENCES mailbox_import (workspace_id, id)
);
