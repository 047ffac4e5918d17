-- Since when a network is not ready with a delivery, again and again: it is not asked for ever.
ALTER TABLE delivery ADD COLUMN unready_at timestamptz;
