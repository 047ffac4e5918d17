"""Dramatiq on Valkey, for reference: 32 threads in one worker process."""

import signal
import threading
import time
from typing import Any

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from redis import Redis

from bench import payload
from bench.adapter import Adapter, Handle, Ready

THREADS = 32


class Dramatiq(Adapter):
    """One actor called noop."""

    def make(self, handle: Handle) -> tuple[RedisBroker, Any]:
        """Make the broker with its actor."""
        broker = RedisBroker(client=Redis(unix_socket_path=self.place.valkey))
        dramatiq.set_broker(broker)

        @dramatiq.actor(actor_name="noop", broker=broker)
        def noop(n: int, pad: str) -> None:
            handle(n)

        return broker, noop

    async def open(self) -> None:
        """Make the producer's broker."""
        _, self.actor = self.make(lambda number: None)
        self.redis = Redis(unix_socket_path=self.place.valkey)

    async def enqueue_one(self, number: int) -> None:
        """Send one."""
        self.actor.send(number, payload.padding(number))

    async def enqueue_at(self, number: int, due: float) -> None:
        """Send one with a delay in whole milliseconds, rounded up so that none runs early."""
        delay = int((due - time.time()) * 1000) + 1
        self.actor.send_with_options(args=(number, payload.padding(number)), delay=delay)

    async def left(self) -> int:
        """Count messages that are not acknowledged, delayed ones included."""
        counts: list[Any] = [
            self.redis.hlen(f"dramatiq:default{kind}.msgs") for kind in ("", ".DQ")
        ]
        return sum(int(count) for count in counts)

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its worker until SIGTERM."""
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        broker, _ = self.make(handle)
        worker = dramatiq.Worker(broker, worker_threads=THREADS)
        ready()
        worker.start()
        stop.wait()
        worker.stop()


SYSTEM = Dramatiq
