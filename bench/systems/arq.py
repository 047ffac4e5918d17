"""arq on Valkey: no results kept, a hundred at once, polled every 10 ms (its default is 500)."""

from datetime import UTC, datetime
from typing import Any

from arq.connections import ArqRedis, RedisSettings
from arq.constants import default_queue_name
from arq.worker import Worker, func

from bench import payload
from bench.adapter import Adapter, Handle, Ready

CONCURRENCY = 100
POLL = 0.01


class Arq(Adapter):
    """One function called noop."""

    def connect(self) -> ArqRedis:
        """Make its client, which is a redis client."""
        return ArqRedis(unix_socket_path=self.place.valkey)

    async def open(self) -> None:
        """Make the producer's client."""
        self.client = self.connect()

    async def enqueue_one(self, number: int) -> None:
        """Enqueue one."""
        await self.client.enqueue_job("noop", number, payload.padding(number))

    async def enqueue_at(self, number: int, due: float) -> None:
        """Enqueue one with a due time."""
        at = datetime.fromtimestamp(due, UTC)
        await self.client.enqueue_job("noop", number, payload.padding(number), _defer_until=at)

    async def left(self) -> int:
        """Count what stands in its queue; running jobs stay there until they are done."""
        return int(await self.client.zcard(default_queue_name))

    async def close(self) -> None:
        """Disconnect."""
        await self.client.aclose()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run its worker until SIGTERM."""

        async def noop(context: dict[str, Any], n: int, pad: str) -> None:
            handle(n)

        worker = Worker(
            [func(noop, name="noop", keep_result=0)],
            redis_pool=self.connect(),
            redis_settings=RedisSettings(),
            max_jobs=CONCURRENCY,
            poll_delay=POLL,
            handle_signals=True,
        )
        ready()
        await worker.async_run()


SYSTEM = Arq
