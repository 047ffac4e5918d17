-- A sequence may choose its accounts by label instead of by list: who has one of these labels writes.
ALTER TABLE sequence ADD COLUMN account_labels text NOT NULL DEFAULT '[]';  -- JSON
