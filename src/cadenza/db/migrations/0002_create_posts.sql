-- Posts: what is said, in which words for which channel, and who approved it. When and where it goes is
-- a matter of deliveries; how a post shows is derived from them and never stored.

-- `author`: the save of an editor or above is the approval. `required`: somebody approves each post.
ALTER TABLE workspace ADD COLUMN approval text NOT NULL DEFAULT 'author'
    CHECK (approval IN ('author', 'required'));
ALTER TABLE workspace ADD COLUMN hashtags text NOT NULL DEFAULT '[]';  -- JSON: those of the brand

CREATE TABLE post (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    title text NOT NULL DEFAULT '',
    source text NOT NULL CHECK (source IN ('manual', 'rule', 'queue')),
    author_id text,  -- a member; null: a rule or a program made it
    category_id text,
    content text NOT NULL,  -- JSON: text, variants, media, hashtags, parts, first comment, link
    content_hash text NOT NULL,  -- of all that is published of it
    search text NOT NULL,  -- title and texts, folded, for the search
    blockers text NOT NULL DEFAULT '[]',  -- JSON: what must be done before anybody can approve it
    revision integer NOT NULL DEFAULT 1,
    approved_by text,
    approved_at timestamptz,
    approved_hash text,  -- what was approved; another content is not approved
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    CHECK ((approved_at IS NULL) = (approved_by IS NULL)),
    CHECK ((approved_at IS NULL) = (approved_hash IS NULL))
);

CREATE INDEX post_in_time ON post (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX post_blocked ON post (workspace_id, created_at) WHERE blockers <> '[]' AND deleted_at IS NULL;
CREATE INDEX post_of_category ON post (workspace_id, category_id, created_at) WHERE deleted_at IS NULL;

CREATE TABLE post_label (
    workspace_id text NOT NULL,
    post_id text NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (workspace_id, post_id, label),
    FOREIGN KEY (workspace_id, post_id) REFERENCES post (workspace_id, id)
);

CREATE INDEX post_of_label ON post_label (workspace_id, label, post_id);

-- Every save. Rows are only added: what was sent can be found by its hash, whatever was saved later.
CREATE TABLE post_revision (
    workspace_id text NOT NULL,
    post_id text NOT NULL,
    revision integer NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,
    saved_by text NOT NULL,
    saved_at timestamptz NOT NULL,
    note text,  -- where a save came too late
    PRIMARY KEY (workspace_id, post_id, revision),
    FOREIGN KEY (workspace_id, post_id) REFERENCES post (workspace_id, id)
);

-- The calendar, what is due soon, and what waits for an approval. Deliveries of
-- campaigns and outreach belong to no post and cost these indexes nothing.
CREATE INDEX delivery_in_time ON delivery (workspace_id, due_at) WHERE post_id IS NOT NULL;
CREATE INDEX delivery_due_soon ON delivery (due_at)
    WHERE post_id IS NOT NULL AND state IN ('draft', 'scheduled');
CREATE INDEX delivery_ended_badly ON delivery (workspace_id, due_at)
    WHERE post_id IS NOT NULL AND state IN ('failed', 'missed', 'unconfirmed');
-- The story of a post or an account; what was sent, the bulk of it, is told by its attempts.
CREATE INDEX outbox_of_subject ON outbox (workspace_id, subject_id, created_at) WHERE kind <> 'delivery.sent';
