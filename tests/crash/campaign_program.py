"""The worker process that sends a campaign by Telegram's Bot API: `ADDRESS URL TOKEN`, killed by its test."""

import asyncio
import os
from datetime import timedelta
from urllib.parse import urlsplit

from cadenza.campaigns.count import CampaignPlanner
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SystemIds, SystemRandom
from cadenza.db.open import open_product
from cadenza.deliveries import contents, planners
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.providers.telegram import PROVIDER
from cadenza.templates.fill_in import fill_in
from tests.crash.pipeline_program import NoFiles

LEASE = timedelta(seconds=3)
WIDTH = 8  # calls of one process at once


async def main(address: str, url: str, token: str) -> None:
    planners.register("campaign", CampaignPlanner())
    contents.register(fill_in)
    tokens, app = Tokens(access=Secret(token)), App(base_url=url)

    def open_sender(ticket: ClaimedDelivery) -> Sender:
        account = AccountRef(id=ticket.account.id, remote_id=ticket.account.remote_id)
        return Sender(PROVIDER, account, tokens, app)

    clock = SystemClock()
    rule = HostRule("127.0.0.1", urlsplit(url).port or 80)
    async with (
        open_product(address, clock=clock) as operations,
        OutboundClient(Policy(allow=(rule,)), clock=clock) as http,
    ):
        source = DeliverySource(operations)
        publisher = Publisher(
            source,
            operations,
            open_sender=open_sender,
            http=http,
            files=NoFiles(),
            clock=clock,
            rng=SystemRandom(),
            new_id=SystemIds().new,
        )
        worker = Worker(
            source,
            publisher,
            name=f"campaign-{os.getpid()}",
            queues=[QUEUE],
            clock=clock,
            concurrency=WIDTH,
            lease=LEASE,
            poll=0.2,
        )
        worker.stop_on_signals()
        await worker.run()
        await publisher.wait_for_calls()


def run(words: list[str]) -> None:
    """Work as the nursery's child."""
    asyncio.run(main(*words))
