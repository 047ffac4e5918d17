ALTER TABLE campaign ADD COLUMN purged_at timestamptz;  -- some of what it sent was removed: it is not reopened
