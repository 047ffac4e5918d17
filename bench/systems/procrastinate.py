"""Procrastinate: psycopg 3, concurrency 5 as measured best; finished rows stay by default."""

from datetime import UTC, datetime
from typing import Any

import procrastinate

from bench import payload
from bench.adapter import Adapter, Handle, Ready

CONCURRENCY = 5


class Procrastinate(Adapter):
    """The app with one task."""

    async def setup(self) -> None:
        """Apply its schema."""
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self.place.dsn))
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    async def open(self) -> None:
        """Open a producer's pool."""
        self.app, self.task = self.make_app(lambda number: None)
        await self.app.open_async()

    def make_app(self, handle: Handle) -> tuple[procrastinate.App, Any]:
        """Make the app with its task."""
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self.place.dsn))

        @app.task(name="noop", queue="default")
        async def noop(n: int, pad: str) -> None:
            handle(n)

        return app, noop

    async def enqueue_one(self, number: int) -> None:
        """Defer one."""
        await self.task.defer_async(**payload.body(number))

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """Defer in batches of 1,000."""
        at = None if due is None else datetime.fromtimestamp(due, UTC)
        task = self.task if at is None else self.task.configure(schedule_at=at)
        for start in range(numbers.start, numbers.stop, 1_000):
            bodies = [payload.body(n) for n in range(start, min(start + 1_000, numbers.stop))]
            await task.batch_defer_async(*bodies)

    async def enqueue_at(self, number: int, due: float) -> None:
        """Defer with a schedule."""
        task = self.task.configure(schedule_at=datetime.fromtimestamp(due, UTC))
        await task.defer_async(**payload.body(number))

    async def left(self) -> int:
        """Count jobs in todo and doing."""
        row = await self.app.connector.execute_query_one_async(
            "SELECT count(*) AS left FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        )
        return row["left"]

    async def close(self) -> None:
        """Close the pool."""
        await self.app.close_async()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its worker."""
        app, _ = self.make_app(handle)
        async with app.open_async():
            ready()
            await app.run_worker_async(queues=["default"], concurrency=CONCURRENCY, wait=True)


SYSTEM = Procrastinate
