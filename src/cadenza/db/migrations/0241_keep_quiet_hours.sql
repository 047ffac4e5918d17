-- When a recipient is left alone, on the recipient's own clock: `22:00-08:00 Europe/Berlin`.
ALTER TABLE delivery ADD COLUMN quiet text;

ALTER TABLE campaign ADD COLUMN quiet_hours text;  -- 22:00-08:00; null: none
ALTER TABLE campaign ADD COLUMN zone text;  -- of the hours and the start, for recipients without one; null: the workspace's
ALTER TABLE campaign ADD COLUMN local_start boolean NOT NULL DEFAULT false;  -- at the start's hour on each recipient's clock
ALTER TABLE campaign ADD COLUMN begins_at timestamptz;  -- when its start time comes first anywhere
