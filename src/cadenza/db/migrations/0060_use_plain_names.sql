-- The columns and tables that people read in errors, exports and SQL are called as the field calls them.
ALTER TABLE attempt RENAME COLUMN says TO message;
UPDATE exchange SET told = replace(told, '"says":', '"message":');

ALTER TABLE knock RENAME TO login_attempt;
DROP INDEX knock_ends;
CREATE INDEX login_attempt_ends ON login_attempt (ends_at);

-- Answers are kept for a day: what was answered in the old words is not repeated in them.
ALTER TABLE kept_answer RENAME TO idempotency_key;
UPDATE idempotency_key SET body = replace(body, '"says":', '"message":') WHERE body IS NOT NULL;
DROP INDEX kept_answer_age;
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

DROP INDEX delivery_in_doubt;
CREATE INDEX delivery_unconfirmed ON delivery (look_at) WHERE state = 'unconfirmed';
