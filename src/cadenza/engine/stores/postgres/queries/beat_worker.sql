-- Writes a worker's last word and forgets workers long silent.
WITH silent AS (
    DELETE FROM cadenza.worker WHERE seen_at < (SELECT cadenza.cadenza_now()) - $9::interval AND name <> $1
)
INSERT INTO cadenza.worker (name, queues, tasks, concurrency, started_at, seen_at, running, version, skew)
VALUES ($1, $2, $3, $4, $5, cadenza.cadenza_now(), $6, $7, $8)
ON CONFLICT (name) DO UPDATE
SET queues = excluded.queues, tasks = excluded.tasks, concurrency = excluded.concurrency,
    started_at = excluded.started_at, seen_at = excluded.seen_at, running = excluded.running,
    version = excluded.version, skew = excluded.skew
