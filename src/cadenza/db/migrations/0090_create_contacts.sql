-- People whom a workspace writes to: one person over all channels, with addresses, tags, fields and notes.
-- Ids rise with time, so lists go by id, newest first, along every index below.

CREATE TABLE contact (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    external_id text,  -- the person's key in another system
    first_name text NOT NULL DEFAULT '',
    last_name text NOT NULL DEFAULT '',
    company text NOT NULL DEFAULT '',
    first_key text NOT NULL DEFAULT '',  -- folded, for search
    last_key text NOT NULL DEFAULT '',
    company_key text NOT NULL DEFAULT '',
    country text,  -- ISO 3166, two letters
    zone text,
    zone_guessed boolean NOT NULL DEFAULT false,  -- from the country: a better guess may replace it
    language text,  -- BCP 47
    consent text NOT NULL DEFAULT 'unknown' CHECK (consent IN ('unknown', 'given', 'refused')),
    consent_at timestamptz,
    consent_proof text,
    source text NOT NULL DEFAULT '',  -- where we have the person from
    source_at timestamptz,
    source_proof text,
    fields text NOT NULL DEFAULT '{}',  -- JSON: the workspace's own fields by key
    import_id text,  -- the import that created it
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX contact_external ON contact (workspace_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX contact_first_name ON contact (workspace_id, first_key, id) WHERE first_key <> '';
CREATE INDEX contact_last_name ON contact (workspace_id, last_key, id) WHERE last_key <> '';
CREATE INDEX contact_company ON contact (workspace_id, company_key, id) WHERE company_key <> '';
CREATE INDEX contact_country ON contact (workspace_id, country, id) WHERE country IS NOT NULL;
CREATE INDEX contact_language ON contact (workspace_id, language, id) WHERE language IS NOT NULL;
CREATE INDEX contact_consent ON contact (workspace_id, consent, id);
CREATE INDEX contact_created ON contact (workspace_id, created_at, id);
CREATE INDEX contact_imported ON contact (workspace_id, import_id, id) WHERE import_id IS NOT NULL;

-- Where a person is reached. One address belongs to one person of a workspace.
CREATE TABLE contact_address (
    workspace_id text NOT NULL,
    channel text NOT NULL,  -- email, linkedin, telegram, or another network's name
    address text NOT NULL,  -- folded: the one spelling that suppression, limits and duplicates go by
    written text NOT NULL,  -- as it is written to
    contact_id text NOT NULL,
    position integer NOT NULL DEFAULT 0,  -- 0: the first of its channel
    domain text,  -- of a mail address
    flag text CHECK (flag IN ('role', 'disposable')),
    import_id text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, channel, address),
    FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);

CREATE INDEX contact_address_of ON contact_address (workspace_id, contact_id, channel, position);
CREATE INDEX contact_address_channel ON contact_address (workspace_id, channel, contact_id);
CREATE INDEX contact_address_domain ON contact_address (workspace_id, domain, contact_id) WHERE domain IS NOT NULL;
CREATE INDEX contact_address_flag ON contact_address (workspace_id, flag, contact_id) WHERE flag IS NOT NULL;

CREATE TABLE contact_tag (
    workspace_id text NOT NULL,
    tag text NOT NULL,
    contact_id text NOT NULL,
    PRIMARY KEY (workspace_id, tag, contact_id),
    FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);

CREATE INDEX contact_tag_of ON contact_tag (workspace_id, contact_id, tag);

-- The workspace's own fields, typed.
CREATE TABLE contact_field (
    workspace_id text NOT NULL REFERENCES workspace (id),
    key text NOT NULL,
    label text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('text', 'number', 'date', 'choice')),
    choices text NOT NULL DEFAULT '[]',  -- JSON: what a choice may be
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, key)
);

-- Values of those fields once more, to filter by.
CREATE TABLE contact_value (
    workspace_id text NOT NULL,
    field text NOT NULL,
    contact_id text NOT NULL,
    text_value text,  -- texts and choices folded, dates as 2026-11-18
    number_value double precision,
    PRIMARY KEY (workspace_id, field, contact_id),
    FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);

CREATE INDEX contact_value_text ON contact_value (workspace_id, field, text_value, contact_id) WHERE text_value IS NOT NULL;
CREATE INDEX contact_value_number ON contact_value (workspace_id, field, number_value, contact_id) WHERE number_value IS NOT NULL;
CREATE INDEX contact_value_of ON contact_value (workspace_id, contact_id);

CREATE TABLE contact_note (
    workspace_id text NOT NULL,
    id text NOT NULL,
    contact_id text NOT NULL,
    text text NOT NULL,
    written_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);

CREATE INDEX contact_note_of ON contact_note (workspace_id, contact_id, id);

-- Contacts that were merged into another one: their old ids still lead to the person.
CREATE TABLE contact_merge (
    workspace_id text NOT NULL,
    merged_id text NOT NULL,
    contact_id text NOT NULL,
    merged_by text NOT NULL,
    merged_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, merged_id),
    FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);

CREATE INDEX contact_merge_into ON contact_merge (workspace_id, contact_id);
