-- When an unconfirmed delivery is looked for again: its due time stays the time that people gave it.
ALTER TABLE delivery ADD COLUMN look_at timestamptz;
UPDATE delivery SET
    look_at = due_at,
    due_at = coalesce(slot_at, (
        SELECT max(attempt.began_at) FROM attempt
        WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
    ), due_at)
WHERE state = 'unconfirmed';
DROP INDEX delivery_in_doubt;
CREATE INDEX delivery_in_doubt ON delivery (look_at) WHERE state = 'unconfirmed';
