-- Who knows a webhook's address can often write there: it is sealed like the signing secret, and `url` keeps the
-- part that may be shown. The key is not in the database, so rows of before are sealed at the next start.
ALTER TABLE webhook ADD COLUMN sealed_url text;
