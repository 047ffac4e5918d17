"""The delivery worker process that the crash tests kill: `python -m tests.crash.pipeline_program ADDRESS MARKS`.

Its network is a file that only ever grows: a line when a call begins, a line when it ends. So the test
knows what really left, whatever the store says.
"""

import asyncio
import os
import random
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SystemIds, SystemRandom
from cadenza.db.open import open_product
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker
from cadenza.providers.base import AttemptContext, Capabilities, Idempotency, Prepared, Problem
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import CannotTell, Finding, Outcome, Sent

LEASE = timedelta(seconds=2)
PROVIDER = "marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick(Capabilities):
    """A call is over within two seconds, so that a test need not wait long for a dead one's gap."""

    def takes(self, message: Message) -> timedelta:
        return timedelta(seconds=2)


class Marks:
    """A network that writes down what it was asked."""

    name = PROVIDER
    channels = (Channel.WEBHOOK,)

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def _mark(self, kind: str, call: AttemptContext) -> None:
        line = f"{kind} {call.message.text} {call.account.id} {time.time():.6f}\n"
        os.write(self._file, line.encode())

    def capabilities(self, channel: Channel) -> Capabilities:
        return Quick(idempotency=Idempotency.NATIVE, findable=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        return []

    async def prepare(self, call: AttemptContext) -> Prepared:
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        self._mark("begin", call)
        await asyncio.sleep(random.uniform(0.005, 0.05))
        self._mark("end", call)
        return Sent(call.key)

    async def find_out(self, call: AttemptContext) -> Finding:
        return CannotTell("the test looks itself")

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens:
        return call.tokens


class NoFiles:
    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


async def main(address: str, marks: str) -> None:
    network: Any = Marks(marks)
    tokens, app = Tokens(access=Secret("token")), App(base_url="")

    def open_sender(ticket: ClaimedDelivery) -> Sender:
        return Sender(network, AccountRef(id=ticket.account.id, remote_id="r"), tokens, app)

    clock = SystemClock()
    async with (
        open_product(address, clock=clock) as operations,
        OutboundClient(Policy(), clock=clock) as http,
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
            name=f"road-{os.getpid()}",
            queues=[QUEUE],
            clock=clock,
            concurrency=4,
            lease=LEASE,
            poll=0.2,
        )
        worker.stop_on_signals()
        await worker.run()
        await publisher.wait_for_calls()


def run(words: list[str]) -> None:
    """Work as the nursery's child."""
    asyncio.run(main(*words))


if __name__ == "__main__":
    run(sys.argv[1:])
