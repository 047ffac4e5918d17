"""The systems that take part: what runs them, how many jobs they get, with which settings.

Slow systems get fewer jobs so that a run stays short; the rate does not depend on the count.
A settings line is what makes that peer fast; a peer that is set badly proves nothing.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Store = Literal["postgres", "sqlite", "valkey", "mongo"]
Role = Literal["raw", "ours", "peer"]
Runtime = Literal["bench", "host", "node"]


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One column of the comparison."""

    name: str
    label: str
    store: Store
    role: Role
    settings: str
    runtime: Runtime = "bench"
    keeps: bool = False
    jobs: int = 20_000
    ones: int = 2_000
    bulk: bool = True
    timed: bool = True
    workers: int = 2
    python: bool = True

    def heavy(self) -> bool:
        """Say whether growth and pressure are measured without being asked for by name."""
        return self.role in ("raw", "ours") and self.store == "postgres"


SYSTEMS: tuple[System, ...] = (
    System(
        name="raw_postgres",
        label="raw loop, deletes",
        store="postgres",
        role="raw",
        settings="asyncpg, SKIP LOCKED, batch 1,000; COPY",
        jobs=40_000,
    ),
    System(
        name="raw_postgres_kept",
        label="raw loop, keeps",
        store="postgres",
        role="raw",
        settings="as above, finished rows stay",
        keeps=True,
        jobs=40_000,
    ),
    System(
        name="cadenza_postgres",
        label="Cadenza, deletes",
        store="postgres",
        role="ours",
        runtime="host",
        keeps=False,
        settings="batch 1,000, concurrency 100; finished jobs deleted at once",
        jobs=40_000,
    ),
    System(
        name="cadenza_postgres_kept",
        label="Cadenza, keeps",
        store="postgres",
        role="ours",
        runtime="host",
        keeps=True,
        settings="batch 1,000, concurrency 100; finished jobs kept for a week",
        jobs=40_000,
    ),
    System(
        name="graphile",
        label="graphile-worker",
        store="postgres",
        role="peer",
        runtime="node",
        python=False,
        settings="localQueue.size 2,000, concurrentJobs 24, completeJobBatchDelay 0",
        jobs=40_000,
        ones=1_000,
    ),
    System(
        name="pgboss",
        label="pg-boss",
        store="postgres",
        role="peer",
        runtime="node",
        python=False,
        keeps=True,
        settings="batchSize 1,000, 4 local workers, listen/notify on",
        jobs=40_000,
        ones=1_000,
    ),
    System(
        name="pgqueuer",
        label="PGQueuer",
        store="postgres",
        role="peer",
        settings="batch 1,000, uvloop, its autovacuum advice applied",
    ),
    System(
        name="procrastinate",
        label="Procrastinate",
        store="postgres",
        role="peer",
        keeps=True,
        settings="concurrency 5",
        jobs=1_500,
        ones=1_000,
    ),
    System(
        name="raw_sqlite",
        label="raw loop, deletes",
        store="sqlite",
        role="raw",
        settings="sqlite3, WAL, synchronous=FULL, batch 1,000",
        jobs=60_000,
    ),
    System(
        name="cadenza_sqlite",
        label="Cadenza, deletes",
        store="sqlite",
        role="ours",
        runtime="host",
        keeps=False,
        settings="batch 1,000, concurrency 100; finished jobs deleted at once",
        jobs=40_000,
    ),
    System(
        name="cadenza_sqlite_kept",
        label="Cadenza, keeps",
        store="sqlite",
        role="ours",
        runtime="host",
        keeps=True,
        settings="batch 1,000, concurrency 100; finished jobs kept for a week",
        jobs=40_000,
    ),
    System(
        name="huey",
        label="huey",
        store="sqlite",
        role="peer",
        settings="1 thread, no results, fsync on (FULL)",
        jobs=4_000,
        bulk=False,
    ),
    System(
        name="litequeue",
        label="litequeue",
        store="sqlite",
        role="peer",
        keeps=True,
        settings="synchronous=FULL, polled every 2 ms",
        jobs=3_000,
        bulk=False,
        timed=False,
    ),
    System(
        name="apscheduler",
        label="APScheduler 3",
        store="sqlite",
        role="peer",
        settings="SQLAlchemy job store, WAL and FULL, 10 threads",
        jobs=2_000,
        ones=1_000,
        bulk=False,
        workers=1,
    ),
    System(
        name="cadenza_redis",
        label="Cadenza, deletes",
        store="valkey",
        role="ours",
        runtime="host",
        settings="batch 1,000, concurrency 100; finished jobs deleted at once",
        jobs=40_000,
    ),
    System(
        name="cadenza_redis_kept",
        label="Cadenza, keeps",
        store="valkey",
        role="ours",
        runtime="host",
        keeps=True,
        settings="batch 1,000, concurrency 100; finished jobs kept for a week",
        jobs=40_000,
    ),
    System(
        name="bullmq",
        label="BullMQ",
        store="valkey",
        role="peer",
        runtime="node",
        python=False,
        settings="addBulk, concurrency 100, removeOnComplete",
        jobs=20_000,
    ),
    System(
        name="arq",
        label="arq",
        store="valkey",
        role="peer",
        settings="max_jobs 100, no results, polled every 10 ms",
        jobs=4_000,
        bulk=False,
    ),
    System(
        name="taskiq",
        label="taskiq",
        store="valkey",
        role="peer",
        settings="ListQueueBroker, 100 at once, uvloop, no results",
        jobs=10_000,
        bulk=False,
        timed=False,
    ),
    System(
        name="celery",
        label="Celery",
        store="valkey",
        role="peer",
        settings="solo pool, results ignored",
        jobs=2_000,
        ones=1_000,
        bulk=False,
    ),
    System(
        name="dramatiq",
        label="Dramatiq",
        store="valkey",
        role="peer",
        settings="32 threads",
        jobs=6_000,
        bulk=False,
    ),
    System(
        name="cadenza_mongo",
        label="Cadenza, deletes",
        store="mongo",
        role="ours",
        runtime="host",
        settings="batch 1,000, concurrency 100; finished jobs deleted at once",
        jobs=2_000,
        ones=500,
    ),
    System(
        name="mongodbcron",
        label="mongodb-cron",
        store="mongo",
        role="peer",
        runtime="node",
        python=False,
        settings="8 in one process, each polled every 50 ms, autoRemove",
        jobs=2_000,
        ones=500,
    ),
    System(
        name="agenda",
        label="Agenda",
        store="mongo",
        role="peer",
        runtime="node",
        python=False,
        settings="100 at once, looks every 10 ms, removeOnComplete",
        jobs=1_000,
        ones=500,
        bulk=False,
    ),
)


def choose(names: str | None) -> list[System]:
    """Pick systems by name, in the table's order; say which names exist when one is wrong."""
    if names is None:
        return list(SYSTEMS)
    wanted = {"valkey" if name.strip() == "redis" else name.strip() for name in names.split(",")}
    unknown = wanted - {system.name for system in SYSTEMS} - set(get_args(Store))
    if unknown:
        known = ", ".join(system.name for system in SYSTEMS)
        raise SystemExit(
            f"bench: no system called {', '.join(sorted(unknown))}; there are: {known}"
        )
    return [system for system in SYSTEMS if system.name in wanted or system.store in wanted]
