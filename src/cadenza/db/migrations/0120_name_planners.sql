-- What campaigns and sequences plan: whom a delivery is for, which step it is, and content by reference.
ALTER TABLE delivery ADD COLUMN sequence_id text;
ALTER TABLE delivery ADD COLUMN contact_id text;
ALTER TABLE delivery ADD COLUMN step integer NOT NULL DEFAULT 0;
ALTER TABLE delivery ADD COLUMN template_version_id text;  -- a frozen version; `content` then holds its variables

-- Nobody gets a step twice, whoever plans it and however often.
CREATE UNIQUE INDEX delivery_of_campaign ON delivery (workspace_id, campaign_id, recipient, step)
    WHERE campaign_id IS NOT NULL;
CREATE UNIQUE INDEX delivery_of_sequence ON delivery (workspace_id, sequence_id, contact_id, step)
    WHERE sequence_id IS NOT NULL;
CREATE INDEX delivery_of_contact ON delivery (workspace_id, contact_id) WHERE contact_id IS NOT NULL;
