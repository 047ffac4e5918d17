-- What was due before this instant, while its account could not send, waits until a person says what becomes of it;
-- what is due later goes as usual. Null: nothing waits for such a choice.
ALTER TABLE lane ADD COLUMN unresumed_until timestamptz;
