-- The engine's tables. Live jobs and finished ones lie apart, so that what is polled stays small.

-- The clock that decides. Tests put another one in its place.
CREATE FUNCTION cadenza_now() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL SAFE AS 'SELECT clock_timestamp()';

CREATE SEQUENCE job_id;
CREATE SEQUENCE lease_number;
CREATE SEQUENCE lane_turn;

-- Waiting and running jobs. state: 0 not yet due, 1 ready, 2 running, 3 ready but to be run alone.
CREATE TABLE job (
    id bigint NOT NULL DEFAULT nextval('job_id'),
    lease bigint NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    snoozes integer NOT NULL DEFAULT 0,
    state smallint NOT NULL,
    unique_while smallint,  -- 1 until claimed, 2 until finished, null once the key is free
    cancel_requested boolean NOT NULL DEFAULT false,
    queue text NOT NULL,
    task text NOT NULL,
    payload text NOT NULL,
    lane text,
    unique_key text,
    options text,
    schedule text,
    progress text,
    tags text[],
    errors text[],
    PRIMARY KEY (id)
) WITH (
    fillfactor = 50,  -- a claim writes the row anew: on the same page that costs a third less log
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);

CREATE INDEX job_ready ON job (queue, priority, run_at, id) WHERE state = 1 AND lane IS NULL;
CREATE INDEX job_lane ON job (queue, lane, priority, run_at, id) WHERE state = 1 AND lane IS NOT NULL;
CREATE INDEX job_deferred ON job (queue, run_at) WHERE state = 0;
CREATE INDEX job_suspect ON job (queue, priority, run_at, id) WHERE state = 3;
CREATE INDEX job_canceling ON job (id) WHERE cancel_requested;
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_while IS NOT NULL;

-- Finished jobs. state: 4 done, 5 failed, 6 canceled.
CREATE TABLE job_done (
    id bigint NOT NULL,
    lease bigint NOT NULL,
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    priority integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    snoozes integer NOT NULL,
    state smallint NOT NULL,
    cancel_requested boolean NOT NULL,
    queue text NOT NULL,
    task text NOT NULL,
    payload text NOT NULL,
    lane text,
    unique_key text,
    options text,
    schedule text,
    progress text,
    output text,
    tags text[],
    errors text[],
    PRIMARY KEY (id)
);

CREATE INDEX job_done_age ON job_done (finished_at);

-- One row a claim: a heartbeat renews one row, however many jobs it holds.
CREATE TABLE lease (
    number bigint PRIMARY KEY,
    until timestamptz NOT NULL,
    worker text NOT NULL,
    queue text NOT NULL,
    first_job bigint NOT NULL,
    last_job bigint NOT NULL,
    jobs bigint[]  -- null when it is all from the first to the last: a long array costs as much as the claim
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- What may start: of a whole queue (lane ''), or of a lane. Every lane that ever held a job has one.
CREATE TABLE gate (
    queue text NOT NULL,
    lane text NOT NULL DEFAULT '',
    paused boolean NOT NULL DEFAULT false,
    reason text,
    parked_until timestamptz,
    concurrency integer,
    rate_count integer,
    rate_per interval,
    rate_burst integer,
    next_start timestamptz,
    in_flight integer NOT NULL DEFAULT 0,
    awake boolean NOT NULL DEFAULT false,  -- of a lane: it may hold ready jobs
    opens_at timestamptz NOT NULL DEFAULT '-infinity',  -- park and rate allow a start; or last served
    turn bigint NOT NULL DEFAULT nextval('lane_turn'),  -- who was served longest ago goes first
    openable boolean NOT NULL
        GENERATED ALWAYS AS (NOT paused AND (concurrency IS NULL OR in_flight < concurrency)) STORED,
    counted boolean NOT NULL  -- in_flight is kept; an unlimited queue is counted only when asked
        GENERATED ALWAYS AS (lane <> '' OR concurrency IS NOT NULL OR rate_count IS NOT NULL) STORED,
    PRIMARY KEY (queue, lane)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX gate_openable ON gate (queue, opens_at) WHERE lane <> '' AND awake AND openable;

-- Lanes that got ready jobs. Rows are only added, so nobody who adds a job waits for a gate.
CREATE TABLE wake (
    queue text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    lane text NOT NULL,
    PRIMARY KEY (queue, number)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- What throttle and pace remember of a key.
CREATE TABLE marker (
    kind text NOT NULL,
    key text NOT NULL,
    at timestamptz,
    job_id bigint,
    PRIMARY KEY (kind, key)
);

CREATE TABLE schedule (
    name text PRIMARY KEY,
    task text NOT NULL,
    recurrence text NOT NULL,
    payload text NOT NULL,
    queue text NOT NULL,
    priority integer NOT NULL,
    lane text,
    options text,
    overlap text NOT NULL,
    missed text NOT NULL,
    paused boolean NOT NULL,
    next_at timestamptz,
    last_at timestamptz,
    last_note text,
    revision bigint NOT NULL
);

CREATE TABLE worker (
    name text PRIMARY KEY,
    queues text[] NOT NULL,
    tasks text[] NOT NULL,
    concurrency integer NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    running integer NOT NULL,
    version text NOT NULL,
    skew double precision NOT NULL
);
