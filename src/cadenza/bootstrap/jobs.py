"""Background work of the product, as tasks of the engine: what packages want done nightly or on demand.

A package writes `async def run(runtime, payload)`; it is hung up in `JOBS` with a name and, where it recurs,
a cron line. Jobs live in the product's database, are leased, retried and shown by `cadenza jobs`.
A run may be cut short and repeated, so each must find out for itself what is still to do.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cadenza.bootstrap.generate_posts import run_nightly, run_on_demand
from cadenza.bootstrap.keep_audits import EVERY as AFTER_FOUR
from cadenza.bootstrap.keep_audits import keep_audits
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.pack_export import EVERY as PAST_THE_HALF
from cadenza.bootstrap.pack_export import NAME as PACK_EXPORT
from cadenza.bootstrap.pack_export import pack_export, sweep_exports
from cadenza.bootstrap.prune_exchanges import EVERY as AFTER_THREE
from cadenza.bootstrap.prune_exchanges import prune_exchanges
from cadenza.bootstrap.prune_idempotency import EVERY as EACH_HOUR
from cadenza.bootstrap.prune_idempotency import prune_idempotency
from cadenza.bootstrap.recheck_posts import EVERY as AT_SEVENTEEN
from cadenza.bootstrap.recheck_posts import recheck_posts
from cadenza.bootstrap.sweep_media import EVERY as EACH_NIGHT
from cadenza.bootstrap.sweep_media import sweep_media
from cadenza.bootstrap.watch_posts import EVERY as EACH_MINUTE
from cadenza.bootstrap.watch_posts import watch_posts
from cadenza.bootstrap.watch_queues import watch_queues
from cadenza.drafts.generate_all import EVERY

QUEUE = "product"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductJob:
    """One kind of background work."""

    name: str
    run: Callable[[Runtime, Mapping[str, Any]], Awaitable[None]]
    cron: str | None = None  # None: only when somebody enqueues it
    zone: str = "UTC"
    retry: int = 5
    time_limit: timedelta = timedelta(minutes=10)
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the recurring runs

    def declare(self, runtime: Runtime) -> None:
        """Make the engine know it."""

        async def run(**payload: object) -> None:
            await self.run(runtime, payload)

        runtime.engine.declare(
            run, name=self.name, queue=QUEUE, retry=self.retry, time_limit=self.time_limit
        )

    async def schedule(self, runtime: Runtime) -> None:
        """Let it recur; said at each start, it changes nothing that did not change."""
        if self.cron is not None:
            await runtime.engine.schedule(
                self.name, self.name, dict(self.payload), cron=self.cron, zone=self.zone
            )


JOBS: tuple[ProductJob, ...] = (
    ProductJob(name="generate_posts", run=run_nightly, cron=EVERY),
    ProductJob(name="generate_workspace", run=run_on_demand),
    ProductJob(name="sweep_answers", run=prune_idempotency, cron=EACH_HOUR),
    ProductJob(name="prune_exchanges", run=prune_exchanges, cron=AFTER_THREE),
    ProductJob(name="sweep_media", run=sweep_media, cron=EACH_NIGHT),
    ProductJob(name=PACK_EXPORT, run=pack_export, retry=2, time_limit=timedelta(hours=2)),
    ProductJob(name="sweep_exports", run=sweep_exports, cron=PAST_THE_HALF),
    ProductJob(name="keep_audits", run=keep_audits, cron=AFTER_FOUR, time_limit=timedelta(hours=1)),
    ProductJob(name="watch_posts", run=watch_posts, cron=EACH_MINUTE, retry=0),
    ProductJob(name="recheck_posts", run=recheck_posts, cron=AT_SEVENTEEN),
    ProductJob(name="watch_queues", run=watch_queues, cron=EACH_MINUTE, retry=0),
)
