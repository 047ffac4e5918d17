-- When a call that is made again to find out has its place between the others of its account.
ALTER TABLE attempt ADD COLUMN repeat_at timestamptz;
