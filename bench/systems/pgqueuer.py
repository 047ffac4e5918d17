"""PGQueuer: asyncpg, batches of 1,000, uvloop, its own autovacuum advice applied."""

import asyncio
import signal
import time
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, Job, PgQueuer, Queries

from bench import payload
from bench.adapter import Adapter, Handle, Ready

BATCH = 1_000
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


class Pgqueuer(Adapter):
    """One entrypoint called noop."""

    async def setup(self) -> None:
        """Install its schema with durable tables, then its autovacuum settings."""
        connection = await asyncpg.connect(self.place.dsn)
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        await queries.optimize_autovacuum()
        await connection.close()

    async def open(self) -> None:
        """Connect once."""
        self.connection = await asyncpg.connect(self.place.dsn)
        self.queries = Queries(AsyncpgDriver(self.connection))

    async def enqueue_one(self, number: int) -> None:
        """Enqueue one."""
        await self.queries.enqueue("noop", payload.text(number).encode())

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """Enqueue in batches of 1,000."""
        for start in range(numbers.start, numbers.stop, BATCH):
            loads: list[bytes | None] = [
                payload.text(n).encode() for n in range(start, min(start + BATCH, numbers.stop))
            ]
            count = len(loads)
            delay = None if due is None else timedelta(seconds=due - time.time())
            after: list[timedelta | None] = [delay] * count
            await self.queries.enqueue(["noop"] * count, loads, [0] * count, after)

    async def enqueue_at(self, number: int, due: float) -> None:
        """Enqueue one for later; it takes a delay, not an instant."""
        delay = timedelta(seconds=due - time.time())
        await self.queries.enqueue("noop", payload.text(number).encode(), 0, delay)

    async def left(self) -> int:
        """Count all rows: finished ones are deleted."""
        return await self.connection.fetchval("SELECT count(*) FROM pgqueuer")

    async def close(self) -> None:
        """Disconnect."""
        await self.connection.close()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its queue manager."""
        connection = await asyncpg.connect(self.place.dsn)
        app = PgQueuer(AsyncpgDriver(connection))

        @app.entrypoint("noop")
        async def noop(job: Job) -> None:
            handle(payload.number_of(job.payload or b""))

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, app.shutdown.set)
        ready()
        await app.run(batch_size=BATCH)


SYSTEM = Pgqueuer
