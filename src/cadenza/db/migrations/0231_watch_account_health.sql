-- What came back before this does not count against the account any more: a person let it send again.
ALTER TABLE account ADD COLUMN health_since_at timestamptz;
