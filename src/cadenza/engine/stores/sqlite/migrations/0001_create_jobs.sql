-- The engine's tables on SQLite. Instants and spans are whole microseconds.

-- All jobs, live and finished; partial indexes keep apart what is polled, so that it stays small.
-- state: 0 not yet due, 1 ready, 2 running, 3 ready but to be run alone, 4 done, 5 failed, 6 canceled.
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a removed job's id is never given again
    state INTEGER NOT NULL,
    lease INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    snoozes INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    unique_while INTEGER,  -- 1 until claimed, 2 until finished, null once the key is free
    queue TEXT NOT NULL,
    task TEXT NOT NULL,
    lane TEXT,
    unique_key TEXT,
    schedule TEXT,
    options TEXT,
    tags TEXT,  -- a JSON array
    progress TEXT,
    output TEXT,
    errors TEXT,  -- a JSON array of JSON texts
    payload TEXT NOT NULL
);

CREATE INDEX job_ready ON job (queue, priority, run_at, id) WHERE state = 1 AND lane IS NULL;
CREATE INDEX job_lane ON job (queue, lane, priority, run_at, id) WHERE state = 1 AND lane IS NOT NULL;
CREATE INDEX job_deferred ON job (queue, run_at) WHERE state = 0;
CREATE INDEX job_suspect ON job (queue, lane, priority, run_at, id) WHERE state = 3;
CREATE INDEX job_canceling ON job (lease) WHERE cancel_requested = 1 AND state = 2;
CREATE INDEX job_ended ON job (finished_at) WHERE state IN (4, 6);
CREATE INDEX job_failed ON job (finished_at) WHERE state = 5;
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_while IS NOT NULL;

-- One row a claim: a heartbeat renews one row, however many jobs it holds.
CREATE TABLE lease (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- only rises, also when rows are deleted
    until INTEGER NOT NULL,
    worker TEXT NOT NULL,
    jobs TEXT NOT NULL  -- a JSON array of ids; some may have left by now
);

CREATE INDEX lease_until ON lease (until);

-- What may start: of a whole queue (lane ''), or of a lane. Every lane that ever held a job has one.
-- standing, of a lane: 0 no ready job is known, 1 may start, 2 may start from opens_at on,
-- 3 only a person or a job that leaves can open it.
CREATE TABLE gate (
    queue TEXT NOT NULL,
    lane TEXT NOT NULL DEFAULT '',
    standing INTEGER NOT NULL DEFAULT 0,
    opens_at INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,  -- who was served longest ago goes first
    in_flight INTEGER NOT NULL DEFAULT 0,
    paused INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    parked_until INTEGER,
    concurrency INTEGER,
    rate_count INTEGER,
    rate_per INTEGER,
    rate_burst INTEGER,
    next_start INTEGER,
    PRIMARY KEY (queue, lane)
) WITHOUT ROWID;

CREATE INDEX gate_open ON gate (queue, turn) WHERE standing = 1;
CREATE INDEX gate_timed ON gate (queue, opens_at) WHERE standing = 2;

CREATE TABLE lane_turn (last INTEGER NOT NULL);
INSERT INTO lane_turn VALUES (0);

-- What throttle and pace remember of a key.
CREATE TABLE marker (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    job INTEGER,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;

CREATE TABLE schedule (
    name TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    recurrence TEXT NOT NULL,
    payload TEXT NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    lane TEXT,
    options TEXT,
    overlap TEXT NOT NULL,
    missed TEXT NOT NULL,
    paused INTEGER NOT NULL,
    next_at INTEGER,
    last_at INTEGER,
    last_note TEXT,
    revision INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX schedule_due ON schedule (next_at) WHERE paused = 0;

CREATE TABLE worker (
    name TEXT PRIMARY KEY,
    queues TEXT NOT NULL,
    tasks TEXT NOT NULL,
    concurrency INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    running INTEGER NOT NULL,
    version TEXT NOT NULL,
    skew REAL NOT NULL
) WITHOUT ROWID;
