-- Tries that failed before the irreversible call; with the attempts they are bounded by the retry limit.
ALTER TABLE delivery ADD COLUMN failures integer NOT NULL DEFAULT 0;
