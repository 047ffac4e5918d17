"""huey on SQLite: one thread, no results, fsync on; polled every 5 ms without back-off.

Its scheduler looks at due times once a second at best, which is what lateness shows.
"""

import time
from typing import Any

from huey import SqliteHuey
from huey.consumer import Consumer

from bench import payload
from bench.adapter import Adapter, Handle, Ready

POLL = 0.005


class Huey(Adapter):
    """One task called noop."""

    def make(self, handle: Handle) -> tuple[SqliteHuey, Any]:
        """Make the queue with its task."""
        queue = SqliteHuey("bench", filename=self.place.file, fsync=True, results=False)

        @queue.task(name="noop")
        def noop(n: int, pad: str) -> None:
            handle(n)

        return queue, noop

    async def open(self) -> None:
        """Open the file; huey makes its tables itself."""
        self.queue, self.task = self.make(lambda number: None)

    async def enqueue_one(self, number: int) -> None:
        """Enqueue one."""
        self.task(number, payload.padding(number))

    async def enqueue_at(self, number: int, due: float) -> None:
        """Schedule one."""
        self.task.schedule(args=(number, payload.padding(number)), delay=due - time.time())

    async def left(self) -> int:
        """Count waiting and scheduled tasks."""
        return self.queue.pending_count() + self.queue.scheduled_count()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its consumer, which ends on SIGTERM by itself."""
        queue, _ = self.make(handle)
        consumer = Consumer(
            queue, workers=1, periodic=False, initial_delay=POLL, backoff=1.0, max_delay=POLL
        )
        ready()
        consumer.run()


SYSTEM = Huey
