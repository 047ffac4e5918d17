"""Background work of the product, as tasks of the engine: what packages want done nightly or on demand.

A package writes `async def run(runtime, payload)`; it is hung up in `JOBS` with a name and, where it recurs,
a cron line. Jobs live in the product's database, are leased, retried and shown by `cadenza jobs`.
A run may be cut short and repeated, so each must find out for itself what is still to do.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cadenza.bootstrap.export_contacts import EVERY as AT_FORTY_THREE
from cadenza.bootstrap.export_contacts import NAME as EXPORT_CONTACTS
from cadenza.bootstrap.export_contacts import export_contacts, sweep_contact_exports
from cadenza.bootstrap.generate_posts import run_nightly, run_on_demand
from cadenza.bootstrap.import_contacts import EVERY as AT_FORTY_ONE
from cadenza.bootstrap.import_contacts import NAME as IMPORT_CONTACTS
from cadenza.bootstrap.import_contacts import import_contacts, sweep_imports
from cadenza.bootstrap.import_mailboxes import NAME as IMPORT_MAILBOXES
from cadenza.bootstrap.import_mailboxes import import_mailboxes
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.pack_export import EVERY as PAST_THE_HALF
from cadenza.bootstrap.pack_export import NAME as PACK_EXPORT
from cadenza.bootstrap.pack_export import pack_export, sweep_exports
from cadenza.bootstrap.plan_sequences import EVERY as EVERY_MINUTE
from cadenza.bootstrap.plan_sequences import NAME as PLAN_SEQUENCE
from cadenza.bootstrap.plan_sequences import plan_sequence, plan_sequences
from cadenza.bootstrap.poll_accounts import EVERY as EACH_MINUTE_OF_POLLS
from cadenza.bootstrap.poll_accounts import NAME as POLL_ACCOUNT
from cadenza.bootstrap.poll_accounts import find_polls, poll_account
from cadenza.bootstrap.prune_exchanges import EVERY as AFTER_THREE
from cadenza.bootstrap.prune_exchanges import prune_exchanges
from cadenza.bootstrap.prune_idempotency import EVERY as EACH_HOUR
from cadenza.bootstrap.prune_idempotency import prune_idempotency
from cadenza.bootstrap.prune_signups import EVERY as AT_FORTY_SEVEN
from cadenza.bootstrap.prune_signups import prune_signups
from cadenza.bootstrap.purge_campaigns import purge_campaigns
from cadenza.bootstrap.read_mailboxes import EVERY as EACH_MINUTE_OF_MAIL
from cadenza.bootstrap.read_mailboxes import NAME as READ_MAILBOX
from cadenza.bootstrap.read_mailboxes import find_mail, read_mailbox
from cadenza.bootstrap.recheck_posts import EVERY as AT_SEVENTEEN
from cadenza.bootstrap.recheck_posts import recheck_posts
from cadenza.bootstrap.run_campaign import NAME as RUN_CAMPAIGN
from cadenza.bootstrap.run_campaign import run_campaign, watch_campaigns
from cadenza.bootstrap.save_audits import EVERY as AFTER_FOUR
from cadenza.bootstrap.save_audits import save_audits
from cadenza.bootstrap.sweep_media import EVERY as EACH_NIGHT
from cadenza.bootstrap.sweep_media import sweep_media
from cadenza.bootstrap.watch_posts import EVERY as EACH_MINUTE
from cadenza.bootstrap.watch_posts import watch_posts
from cadenza.bootstrap.watch_queues import watch_queues
from cadenza.campaigns.purge import JOB as PURGE_CAMPAIGNS
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
    ProductJob(name=RUN_CAMPAIGN, run=run_campaign, time_limit=timedelta(hours=6)),
    ProductJob(name=PURGE_CAMPAIGNS, run=purge_campaigns, time_limit=timedelta(hours=6)),
    ProductJob(name="watch_campaigns", run=watch_campaigns, cron=EACH_MINUTE),
    ProductJob(name=IMPORT_CONTACTS, run=import_contacts, time_limit=timedelta(hours=6)),
    ProductJob(name=IMPORT_MAILBOXES, run=import_mailboxes, time_limit=timedelta(hours=1)),
    ProductJob(name="sweep_imports", run=sweep_imports, cron=AT_FORTY_ONE),
    ProductJob(name=EXPORT_CONTACTS, run=export_contacts, retry=2, time_limit=timedelta(hours=6)),
    ProductJob(name="sweep_contact_exports", run=sweep_contact_exports, cron=AT_FORTY_THREE),
    ProductJob(name=PLAN_SEQUENCE, run=plan_sequence, time_limit=timedelta(hours=6)),
    ProductJob(name="plan_sequences", run=plan_sequences, cron=EVERY_MINUTE, retry=0),
    ProductJob(name="keep_audits", run=save_audits, cron=AFTER_FOUR, time_limit=timedelta(hours=1)),
    ProductJob(name="watch_posts", run=watch_posts, cron=EACH_MINUTE, retry=0),
    ProductJob(name="recheck_posts", run=recheck_posts, cron=AT_SEVENTEEN),
    ProductJob(name="forget_signups", run=prune_signups, cron=AT_FORTY_SEVEN),
    ProductJob(name="find_mail", run=find_mail, cron=EACH_MINUTE_OF_MAIL, retry=0),
    ProductJob(name=READ_MAILBOX, run=read_mailbox, retry=0),
    ProductJob(name="find_polls", run=find_polls, cron=EACH_MINUTE_OF_POLLS, retry=0),
    ProductJob(name=POLL_ACCOUNT, run=poll_account, retry=0),
    ProductJob(name="watch_queues", run=watch_queues, cron=EACH_MINUTE, retry=0),
)
