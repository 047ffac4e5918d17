-- Sign-up forms that stand on other sites, and who signed up by them. A contact is made when the person confirms.

CREATE TABLE signup_form (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    name text NOT NULL,
    audience_id text NOT NULL,  -- the list that people join; a form without it is closed
    account_id text NOT NULL,  -- who mails the link to confirm
    active boolean NOT NULL DEFAULT true,
    texts text NOT NULL,  -- JSON: what visitors read
    fields text NOT NULL DEFAULT '[]',  -- JSON: what is asked besides the address
    origins text NOT NULL DEFAULT '[]',  -- JSON: sites that may show it; none: every site
    redirect_url text,  -- where a visitor goes on after signing up
    confirmed_url text,  -- and after confirming
    revision bigint NOT NULL DEFAULT 1,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

CREATE UNIQUE INDEX signup_form_id ON signup_form (id);  -- its public address names no workspace
CREATE UNIQUE INDEX signup_form_name ON signup_form (workspace_id, name);

CREATE TABLE signup (
    workspace_id text NOT NULL,
    id text NOT NULL,
    form_id text NOT NULL,
    address text NOT NULL,  -- folded
    written text NOT NULL,
    answers text NOT NULL,  -- JSON: what the person filled in
    consent_text text NOT NULL,  -- what they read when they signed up
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'confirmed')),
    contact_id text,
    mails integer NOT NULL DEFAULT 0,  -- sent to confirm
    mailed_at timestamptz,
    created_at timestamptz NOT NULL,
    asked_at timestamptz NOT NULL,  -- when they last signed up
    confirmed_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, form_id, address),
    FOREIGN KEY (workspace_id, form_id) REFERENCES signup_form (workspace_id, id)
);

CREATE INDEX signup_asked ON signup (workspace_id, form_id, asked_at);
CREATE INDEX signup_address ON signup (workspace_id, address);
CREATE INDEX signup_pending ON signup (asked_at) WHERE state = 'pending';
