-- What comes back: each reply, bounce, complaint or open once, and the conversations that people answer.

CREATE TABLE conversation (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    account_id text NOT NULL,
    channel text NOT NULL,  -- of the address: email, linkedin, telegram, …
    address text NOT NULL,  -- folded; '': nobody could tell who wrote
    written text NOT NULL DEFAULT '',  -- as it is written to
    name text NOT NULL DEFAULT '',
    chat_id text,
    contact_id text,
    subject text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done')),
    label text CHECK (label IN ('interested', 'not_now', 'wrong_person')),
    assignee text,  -- a member
    last_kind text NOT NULL,
    last_text text NOT NULL DEFAULT '',
    last_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    revision bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, account_id, channel, address)
);

CREATE INDEX conversation_newest ON conversation (workspace_id, last_at, id);
CREATE INDEX conversation_state ON conversation (workspace_id, state, last_at, id);
CREATE INDEX conversation_contact ON conversation (workspace_id, contact_id) WHERE contact_id IS NOT NULL;

-- One thing that came in. Rows are added, and matched later where what they answer to was not settled yet.
CREATE TABLE inbound_event (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    account_id text NOT NULL,
    remote_id text NOT NULL,  -- what a repetition is known by: a Message-ID, or the provider's id of the event
    kind text NOT NULL CHECK (kind IN (
        'reply', 'out_of_office', 'unsubscribe', 'hard_bounce', 'soft_bounce', 'policy_bounce', 'content_bounce',
        'complaint', 'accepted', 'delivered', 'delayed', 'open', 'click', 'unknown'
    )),
    source text NOT NULL,  -- imap, unipile, ses, …
    trusted boolean NOT NULL DEFAULT false,  -- a provider that we know says it, not a mail that anyone can write
    channel text NOT NULL,
    address text,  -- folded: whom it is about
    contact_id text,
    delivery_id text,
    matched_by text,  -- bounce_address, message_id, recipient; null: it fits nothing that we sent
    answers_to text NOT NULL DEFAULT '[]',  -- JSON: remote ids, the likeliest first
    conversation_id text,
    message_id text,  -- its own, to answer to
    subject text NOT NULL DEFAULT '',
    text text NOT NULL DEFAULT '',
    code text,
    diagnostic text NOT NULL DEFAULT '',
    happened_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, account_id, remote_id)
);

CREATE INDEX inbound_event_thread ON inbound_event (workspace_id, conversation_id, happened_at, id)
    WHERE conversation_id IS NOT NULL;
CREATE INDEX inbound_event_address ON inbound_event (workspace_id, address, kind, happened_at)
    WHERE address IS NOT NULL;
CREATE INDEX inbound_event_account ON inbound_event (workspace_id, account_id, kind, happened_at);
CREATE INDEX inbound_event_delivery ON inbound_event (workspace_id, delivery_id) WHERE delivery_id IS NOT NULL;
CREATE INDEX inbound_event_unmatched ON inbound_event (recorded_at) WHERE delivery_id IS NULL;

-- Our answers: deliveries of their own.
CREATE TABLE conversation_reply (
    workspace_id text NOT NULL,
    conversation_id text NOT NULL,
    delivery_id text NOT NULL,
    written_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, conversation_id, delivery_id),
    FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversation (workspace_id, id)
);

-- Programs that tell us: each has an address of its own, and a secret that is sealed.
CREATE TABLE inbound_source (
    workspace_id text NOT NULL REFERENCES workspace (id),
    id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('signed', 'unipile', 'ses', 'postmark', 'mailgun', 'sendgrid')),
    account_id text,  -- whose mails they tell of; of Unipile: null, its events name the account
    sealed text NOT NULL,
    settings text NOT NULL DEFAULT '{}',  -- JSON: an SNS topic
    created_at timestamptz NOT NULL,
    last_event_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX inbound_source_id ON inbound_source (id);

-- Mailboxes that are read by IMAP, one an account.
CREATE TABLE mailbox (
    workspace_id text NOT NULL,
    account_id text NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    security text NOT NULL CHECK (security IN ('tls', 'starttls', 'none')),
    username text NOT NULL,
    sealed text NOT NULL,
    folders text NOT NULL DEFAULT '{}',  -- JSON: UIDVALIDITY and the last UID that was read, by folder
    read_until timestamptz,  -- somebody reads it now
    polled_at timestamptz,
    next_poll_at timestamptz NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    error text,  -- why the last poll failed
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, account_id),
    FOREIGN KEY (workspace_id, account_id) REFERENCES account (workspace_id, id)
);

CREATE INDEX mailbox_next ON mailbox (next_poll_at);

-- What a bounce or an answer names: the id that the other side knows our message by.
CREATE INDEX attempt_remote ON attempt (workspace_id, remote_id) WHERE remote_id IS NOT NULL;

-- An address that does not exist any more.
ALTER TABLE contact_address ADD COLUMN bounced_at timestamptz;

-- Hashes of erased people's addresses are made with it, so that they are still not written to.
CREATE TABLE erasure_salt (
    workspace_id text PRIMARY KEY REFERENCES workspace (id),
    salt text NOT NULL,
    created_at timestamptz NOT NULL
);

-- What mails to many have to show.
ALTER TABLE workspace ADD COLUMN postal_address text NOT NULL DEFAULT '';
