"""Cadenza itself, on any store: one task, a worker with its default settings but concurrency.

Runs in Cadenza's own environment, not in the peers'. `cadenza_postgres.py` and its neighbours
only say which store it is and whether finished jobs stay.
"""

from datetime import UTC, datetime, timedelta

from bench import payload
from bench.adapter import Adapter, Handle, Place, Ready
from cadenza.engine import Engine, State
from cadenza.engine.task import Task

CHUNK = 50_000  # one transaction, as the bare loop does
CONCURRENCY = 100


class Cadenza(Adapter):
    """The engine through its public door."""

    keep_done = timedelta()

    def address(self, place: Place) -> str:
        """Return the store's address."""
        raise NotImplementedError

    def make(self, handle: Handle) -> tuple[Engine, Task]:
        """Make the engine with its task."""
        engine = Engine(self.address(self.place), keep_done=self.keep_done)

        async def noop(n: int, pad: str) -> None:
            handle(n)

        return engine, engine.declare(noop)

    async def open(self) -> None:
        """Open the engine, which brings its tables up to date."""
        self.engine, self.task = self.make(lambda number: None)
        await self.engine.open()

    async def enqueue_one(self, number: int) -> None:
        """Enqueue one."""
        await self.task.enqueue(**payload.body(number))

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """Enqueue in one transaction, as the bare loop does; a million in twenty."""
        at = None if due is None else datetime.fromtimestamp(due, UTC)
        prepared = self.task.using(run_at=at) if at else self.task
        for start in range(numbers.start, numbers.stop, CHUNK):
            stop = min(start + CHUNK, numbers.stop)
            await prepared.enqueue_many([payload.body(n) for n in range(start, stop)])

    async def enqueue_at(self, number: int, due: float) -> None:
        """Enqueue one with a due time."""
        at = datetime.fromtimestamp(due, UTC)
        await self.task.using(run_at=at).enqueue(**payload.body(number))

    async def left(self) -> int:
        """Count what is not done; a failed job is a fault here too."""
        tallies = await self.engine.store.tally()
        return sum(tally.count for tally in tallies if tally.state is not State.DONE)

    async def close(self) -> None:
        """Let go of the store."""
        await self.engine.close()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run a worker until SIGTERM."""
        engine, _ = self.make(handle)
        async with engine:
            worker = engine.worker(concurrency=CONCURRENCY)
            worker.stop_on_signals()
            ready()
            await worker.run()
