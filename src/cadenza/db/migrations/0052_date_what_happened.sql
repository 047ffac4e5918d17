-- When a delivery was last called for, and when it was missed, canceled or skipped: activity is listed by it.
ALTER TABLE delivery ADD COLUMN last_attempt_at timestamptz;
ALTER TABLE delivery ADD COLUMN ended_at timestamptz;
UPDATE delivery SET last_attempt_at = (
    SELECT max(attempt.began_at) FROM attempt
    WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
);
UPDATE delivery SET ended_at = due_at WHERE state = 'missed';
-- Nobody wrote down when it was canceled; its making is the one time that is surely past.
UPDATE delivery SET ended_at = coalesce((
    SELECT max(audit.happened_at) FROM audit
    WHERE audit.workspace_id = delivery.workspace_id AND audit.subject_id = delivery.id
        AND audit.action = 'delivery.cancel'
), (
    SELECT max(audit.happened_at) FROM audit
    WHERE audit.workspace_id = delivery.workspace_id AND audit.subject_id = delivery.post_id
        AND audit.action IN ('post.cancel', 'post.delete')
), created_at) WHERE state IN ('canceled', 'skipped');
CREATE INDEX delivery_happened ON delivery (
    workspace_id, (coalesce(sent_at, failed_at, ended_at, last_attempt_at, due_at)), id
) WHERE state NOT IN ('draft', 'scheduled');
