"""litequeue on SQLite at synchronous=FULL: a queue without workers, so the loop is ours.

It has no due times and no bulk call; finished messages stay until pruned.
"""

import asyncio
import signal

from litequeue import LiteQueue

from bench import payload
from bench.adapter import Adapter, Handle, Ready

POLL = 0.002


class Litequeue(Adapter):
    """Pop, handle, done."""

    def make(self) -> LiteQueue:
        """Open the queue and raise its durability to that of the others."""
        queue = LiteQueue(self.place.file)
        queue.conn.execute("PRAGMA synchronous = FULL")
        return queue

    async def open(self) -> None:
        """Open the file; litequeue makes its table itself."""
        self.queue = self.make()

    async def enqueue_one(self, number: int) -> None:
        """Put one."""
        self.queue.put(payload.text(number))

    async def left(self) -> int:
        """Count messages that are neither done nor failed."""
        return self.queue.qsize()

    async def close(self) -> None:
        """Close the file."""
        self.queue.close()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Pop until told to stop."""
        stopping: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
        queue = self.make()
        ready()
        while not stopping:
            message = queue.pop()
            if message is None:
                await asyncio.sleep(POLL)
                continue
            handle(payload.number_of(message.data))
            queue.done(message.message_id)


SYSTEM = Litequeue
