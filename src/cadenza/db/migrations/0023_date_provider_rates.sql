-- Since when a provider's rate holds: what was called before it is no breach.
ALTER TABLE provider_rate ADD COLUMN set_at timestamptz;
