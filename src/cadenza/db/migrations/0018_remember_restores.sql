-- When a person last confirmed a restore: what was called before that may have gone further than this database knows.
ALTER TABLE installation ADD COLUMN restored_at timestamptz;
