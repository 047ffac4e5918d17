"""The limit on PostgreSQL: a bare asyncpg loop, no engine around it.

One statement leases 1,000 due rows with SKIP LOCKED, one deletes them (or marks them done).
It has no retries, no heartbeat, no rescue: what an engine adds is measured against this.
"""

import asyncio
import contextlib
import signal
from datetime import UTC, datetime

import asyncpg

from bench import payload
from bench.adapter import Adapter, Handle, Ready

BATCH = 1_000
CREATE = """
CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state smallint NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL DEFAULT now(), leased_until timestamptz, payload text NOT NULL)
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_due ON job (run_at, id) WHERE state = 0;
"""
ADD = "WITH added AS (INSERT INTO job (payload) VALUES ($1)) SELECT pg_notify('job', '')"
ADD_AT = "WITH added AS (INSERT INTO job (payload, run_at) VALUES ($1, to_timestamp($2))) SELECT pg_notify('job', '')"
CLAIM = """
UPDATE job SET state = 1, leased_until = now() + interval '1 minute'
WHERE id = ANY(ARRAY(SELECT id FROM job WHERE state = 0 AND run_at <= now()
                     ORDER BY run_at, id LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING id, payload"""
NEXT_DUE = (
    "SELECT extract(epoch FROM min(run_at) - clock_timestamp())::float8 FROM job WHERE state = 0"
)


class RawPostgres(Adapter):
    """Deletes what is finished."""

    settle = "DELETE FROM job WHERE id = ANY($1::bigint[])"

    async def setup(self) -> None:
        """Create the one table."""
        connection = await asyncpg.connect(self.place.dsn)
        await connection.execute(CREATE)
        await connection.close()

    async def open(self) -> None:
        """Connect once; a producer needs no pool."""
        self.connection = await asyncpg.connect(self.place.dsn)

    async def enqueue_one(self, number: int) -> None:
        """Insert and notify in one statement."""
        await self.connection.execute(ADD, payload.text(number))

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """COPY, the fastest way in."""
        if due is None:
            rows = [(payload.text(n),) for n in numbers]
            await self.connection.copy_records_to_table("job", records=rows, columns=["payload"])
        else:
            at = datetime.fromtimestamp(due, UTC)
            deferred = [(payload.text(n), at) for n in numbers]
            await self.connection.copy_records_to_table(
                "job", records=deferred, columns=["payload", "run_at"]
            )
        await self.connection.execute("NOTIFY job")

    async def enqueue_at(self, number: int, due: float) -> None:
        """Insert with a due time."""
        await self.connection.execute(ADD_AT, payload.text(number), due)

    async def left(self) -> int:
        """Count rows not done."""
        return await self.connection.fetchval("SELECT count(*) FROM job WHERE state < 2")

    async def close(self) -> None:
        """Disconnect."""
        await self.connection.close()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Claim, handle, settle; sleep until notified or until the next row is due."""
        stop, woken = asyncio.Event(), asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGTERM, lambda: (stop.set(), woken.set())
        )
        connection = await asyncpg.connect(self.place.dsn)
        await connection.add_listener("job", lambda *_: woken.set())
        claim = await connection.prepare(CLAIM)
        settle = await connection.prepare(self.settle)
        ready()
        while not stop.is_set():
            woken.clear()
            rows = await claim.fetch(BATCH)
            for row in rows:
                handle(payload.number_of(row["payload"]))
            if rows:
                await settle.fetch([row["id"] for row in rows])
            else:
                due = await connection.fetchval(NEXT_DUE)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(
                        woken.wait(), 1.0 if due is None else min(max(due, 0.001), 1.0)
                    )


SYSTEM = RawPostgres
