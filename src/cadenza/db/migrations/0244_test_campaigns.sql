ALTER TABLE campaign ADD COLUMN test_addresses text NOT NULL DEFAULT '[]';  -- JSON: who really gets a test
ALTER TABLE campaign ADD COLUMN test_faults text NOT NULL DEFAULT '{}';  -- JSON: how many of a hundred meet which fault
