"""Celery on Valkey: solo pool, results ignored, no gossip, mingle or heartbeat.

Its worker takes seconds to come up, so it stops at the gate when it says that it is ready, not
before: else the first of two had handled everything before the second was there.
"""

from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.signals import worker_ready
from redis import Redis

from bench import payload
from bench.adapter import Adapter, Handle, Ready


class CeleryOnValkey(Adapter):
    """One task called noop."""

    def make(self, handle: Handle) -> tuple[Celery, Any]:
        """Make the app with its task."""
        app = Celery("bench", broker=f"redis+socket://{self.place.valkey}")
        app.conf.task_ignore_result = True
        app.conf.broker_connection_retry_on_startup = True

        @app.task(name="noop", ignore_result=True)
        def noop(n: int, pad: str) -> None:
            handle(n)

        return app, noop

    async def open(self) -> None:
        """Make the producer's app."""
        self.app, self.task = self.make(lambda number: None)
        self.redis = Redis(unix_socket_path=self.place.valkey)

    async def enqueue_one(self, number: int) -> None:
        """Send one."""
        self.task.delay(number, payload.padding(number))

    async def enqueue_at(self, number: int, due: float) -> None:
        """Send one with an eta: the worker keeps it in memory until then."""
        self.task.apply_async(
            (number, payload.padding(number)), eta=datetime.fromtimestamp(due, UTC)
        )

    async def left(self) -> int:
        """Count waiting and unacknowledged messages."""
        waiting: Any = self.redis.llen("celery")
        unacked: Any = self.redis.hlen("unacked")
        return int(waiting) + int(unacked)

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its worker, which ends on SIGTERM by itself."""
        app, _ = self.make(handle)
        worker_ready.connect(lambda **_: ready(), weak=False)
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
        app.worker_main(["worker", "--pool=solo", *quiet])


SYSTEM = CeleryOnValkey
