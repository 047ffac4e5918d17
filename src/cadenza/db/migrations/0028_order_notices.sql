-- What a program is told of one object comes in order: what a notice is about, and when that happened.
ALTER TABLE notice ADD COLUMN subject_id text;
ALTER TABLE notice ADD COLUMN happened_at timestamptz;
UPDATE notice SET
    subject_id = (
        SELECT outbox.subject_id FROM outbox
        WHERE outbox.workspace_id = notice.workspace_id AND outbox.id = notice.outbox_id
    ),
    happened_at = (
        SELECT outbox.created_at FROM outbox
        WHERE outbox.workspace_id = notice.workspace_id AND outbox.id = notice.outbox_id
    )
WHERE state = 'waiting';
CREATE INDEX notice_subject ON notice (workspace_id, medium, target_id, subject_id, happened_at, outbox_id)
WHERE state = 'waiting';
