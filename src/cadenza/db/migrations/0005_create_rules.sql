-- Categories, the media that rules may pick, and rules with what they have laid out.

-- A brand (no parent) or a category of one. `copy` is what a new post says until somebody writes better.
CREATE TABLE category (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    parent_id text,
    name text NOT NULL,
    hashtags text NOT NULL DEFAULT '[]',  -- JSON, its own; those of brand and workspace are merged on reading
    copy text NOT NULL DEFAULT '',
    variables text NOT NULL DEFAULT '{}',  -- JSON: what {{names}} in the copy stand for
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, parent_id) REFERENCES category (workspace_id, id)
);

CREATE UNIQUE INDEX category_name ON category (workspace_id, COALESCE(parent_id, ''), name);

-- The pool of a category. Counters are derived from `rule_occurrence` and can be counted anew from it.
CREATE TABLE asset (
    workspace_id text NOT NULL,
    category_id text NOT NULL,
    media_id text NOT NULL,
    use_count integer NOT NULL DEFAULT 0,
    last_used_at timestamptz,  -- when the latest post that shows it is due; null: none does
    added_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, category_id, media_id),
    FOREIGN KEY (workspace_id, category_id) REFERENCES category (workspace_id, id),
    FOREIGN KEY (workspace_id, media_id) REFERENCES media (workspace_id, id)
);

CREATE TABLE rule (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    category_id text NOT NULL,
    pool_id text,  -- the category whose media it picks; null: its own
    needs_media boolean NOT NULL DEFAULT true,
    pattern text NOT NULL,  -- JSON
    zone text NOT NULL,
    starts text NOT NULL,  -- a wall time: where everything is counted from
    ends text,  -- a date, included
    gap text NOT NULL DEFAULT 'shift' CHECK (gap IN ('shift', 'skip', 'next_valid')),
    fold text NOT NULL DEFAULT 'first' CHECK (fold IN ('first', 'second', 'both')),
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'deleted')),
    revision integer NOT NULL DEFAULT 1,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, category_id) REFERENCES category (workspace_id, id),
    FOREIGN KEY (workspace_id, pool_id) REFERENCES category (workspace_id, id)
);

CREATE INDEX rule_active ON rule (workspace_id, id) WHERE state = 'active';

CREATE TABLE rule_target (
    workspace_id text NOT NULL,
    rule_id text NOT NULL,
    account_id text NOT NULL,
    channel text NOT NULL,
    PRIMARY KEY (workspace_id, rule_id, account_id, channel),
    FOREIGN KEY (workspace_id, rule_id) REFERENCES rule (workspace_id, id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

-- What a rule has laid out, by the date and time that it says. A row whose post was deleted is a
-- tombstone: the occurrence does not return. Only an edit of the rule itself takes rows away.
CREATE TABLE rule_occurrence (
    workspace_id text NOT NULL,
    rule_id text NOT NULL,
    day text NOT NULL,  -- the local date that the rule says
    slot text NOT NULL,  -- HH:MM, with /2 in the second pass of a repeated hour
    due_at timestamptz NOT NULL,
    target_month text NOT NULL,  -- YYYY-MM of the local date
    post_id text,
    media_id text,
    pool_id text,
    targets text NOT NULL DEFAULT '[]',  -- JSON: accounts and channels that it was made for
    written_revision integer NOT NULL DEFAULT 1,  -- the post's, as last written here; another: somebody touched it
    placeholder boolean NOT NULL DEFAULT true,  -- its copy may still be a placeholder
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, rule_id, day, slot),
    FOREIGN KEY (workspace_id, rule_id) REFERENCES rule (workspace_id, id)
);

CREATE UNIQUE INDEX rule_occurrence_post ON rule_occurrence (workspace_id, post_id) WHERE post_id IS NOT NULL;
CREATE INDEX rule_occurrence_month ON rule_occurrence (workspace_id, target_month);
CREATE INDEX rule_occurrence_asset ON rule_occurrence (workspace_id, pool_id, media_id) WHERE media_id IS NOT NULL;
CREATE INDEX rule_occurrence_copy ON rule_occurrence (workspace_id, due_at, post_id) WHERE placeholder;

-- The nightly generation: where each workspace stands. One local date is generated once; a run that was
-- cut short goes on where it stopped, after its lease.
CREATE TABLE generation (
    workspace_id text NOT NULL REFERENCES workspace (id),
    day text NOT NULL,  -- the local date under way or done
    after_rule text NOT NULL DEFAULT '',  -- rules up to this one are done
    made integer NOT NULL DEFAULT 0,
    lease bigint NOT NULL DEFAULT 1,  -- only ever rises
    leased_until timestamptz,
    done_at timestamptz,
    PRIMARY KEY (workspace_id)
);

CREATE INDEX generation_open ON generation (leased_until) WHERE done_at IS NULL;
CREATE INDEX workspace_of_zone ON workspace (zone, id) WHERE active;
