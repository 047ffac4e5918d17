-- When a network last blocked an account for a while, as a punishment: a second one without a success between suspends it.
ALTER TABLE account ADD COLUMN blocked_at timestamptz;
