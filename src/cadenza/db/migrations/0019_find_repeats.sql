-- What a post's own text says, folded and hashed: the same words are found without reading every post.
-- Null: it says nothing, or was saved before this column was there.
ALTER TABLE post ADD COLUMN words text;

CREATE INDEX post_words ON post (workspace_id, words) WHERE words IS NOT NULL;
