-- Undoing an import goes by what the import left, not by the time, so an edit beside a running import stays.

ALTER TABLE contact ADD COLUMN import_revision bigint;  -- as the import that created it left it
UPDATE contact SET import_revision = CASE WHEN updated_at <= coalesce((
    SELECT i.finished_at FROM contact_import i
    WHERE i.workspace_id = contact.workspace_id AND i.id = contact.import_id
), updated_at) THEN revision ELSE 0 END WHERE import_id IS NOT NULL;

ALTER TABLE contact_import_undo ADD COLUMN revision bigint NOT NULL DEFAULT 0;  -- as the import left it
UPDATE contact_import_undo SET revision = coalesce((
    SELECT c.revision FROM contact c
    JOIN contact_import i ON i.workspace_id = c.workspace_id AND i.id = contact_import_undo.import_id
    WHERE c.workspace_id = contact_import_undo.workspace_id AND c.id = contact_import_undo.contact_id
        AND c.updated_at <= coalesce(i.finished_at, c.updated_at)
), 0);

-- How recipient channels were before an import changed them, and how it left them.
CREATE TABLE channel_import_undo (
    workspace_id text NOT NULL,
    import_id text NOT NULL,
    provider text NOT NULL,
    channel_id text NOT NULL,
    created boolean NOT NULL,  -- the import made it
    listed boolean NOT NULL DEFAULT false,  -- the import put it on the list
    old_address text,
    old_title text,
    old_category text,
    new_address text NOT NULL,
    new_title text,
    new_category text,
    PRIMARY KEY (workspace_id, import_id, provider, channel_id),
    FOREIGN KEY (workspace_id, import_id) REFERENCES contact_import (workspace_id, id)
);

INSERT INTO channel_import_undo (workspace_id, import_id, provider, channel_id, created, new_address, new_title,
    new_category)
SELECT r.workspace_id, r.import_id, r.provider, r.id, true, coalesce(r.written, r.id), r.title, r.category
FROM recipient_channel r
JOIN contact_import i ON i.workspace_id = r.workspace_id AND i.id = r.import_id
WHERE r.import_id IS NOT NULL AND r.changed_at = r.created_at;
