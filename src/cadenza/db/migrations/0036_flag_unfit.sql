-- What a channel would refuse of a delivery's content, said when the content is written; NULL: it fits.
ALTER TABLE delivery ADD COLUMN unfit text;
CREATE INDEX delivery_unfit ON delivery (workspace_id, due_at)
    WHERE unfit IS NOT NULL AND state IN ('draft', 'scheduled');
