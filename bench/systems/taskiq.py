"""taskiq on Valkey: its list broker, a hundred tasks at once, results thrown away, uvloop.

The driver's time-out is lifted: its default of five seconds would end the blocking pop of an
idle worker, and with it the worker.
"""

import asyncio
import signal
from typing import Any

import uvloop
from redis.asyncio import Redis
from taskiq.receiver import Receiver
from taskiq_redis import ListQueueBroker

from bench import payload
from bench.adapter import Adapter, Handle, Ready

CONCURRENCY = 100
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


class Taskiq(Adapter):
    """One task called noop."""

    def make(self, handle: Handle) -> tuple[ListQueueBroker, Any]:
        """Make the broker with its task."""
        broker = ListQueueBroker(f"unix://{self.place.valkey}", socket_timeout=None)

        @broker.task(task_name="noop")
        async def noop(n: int, pad: str) -> None:
            handle(n)

        return broker, noop

    async def open(self) -> None:
        """Start the producer's broker."""
        self.broker, self.task = self.make(lambda number: None)
        await self.broker.startup()
        self.redis = Redis(unix_socket_path=self.place.valkey)

    async def enqueue_one(self, number: int) -> None:
        """Send one."""
        await self.task.kiq(number, payload.padding(number))

    async def left(self) -> int:
        """Count waiting messages; it keeps nothing of running ones."""
        waiting: Any = await self.redis.llen("taskiq")
        return int(waiting)

    async def close(self) -> None:
        """Disconnect."""
        await self.redis.aclose()
        await self.broker.shutdown()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its receiver until SIGTERM."""
        broker, _ = self.make(handle)
        broker.is_worker_process = True
        await broker.startup()
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        receiver = Receiver(broker, max_async_tasks=CONCURRENCY, run_startup=False)
        ready()
        await receiver.listen(stop)
        await broker.shutdown()


SYSTEM = Taskiq
