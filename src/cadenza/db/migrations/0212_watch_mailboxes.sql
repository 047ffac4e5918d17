-- A mailbox may be signed in to by the account's token instead of a password, and a worker may wait for its mail.
ALTER TABLE mailbox ADD COLUMN auth text NOT NULL DEFAULT 'password' CHECK (auth IN ('password', 'xoauth2'));
ALTER TABLE mailbox ADD COLUMN watched_until timestamptz;  -- somebody waits for new mail till then, or nobody can
