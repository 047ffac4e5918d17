"""How fast is the pipeline? Deliveries per second through claim, permit, a null call and settle.

    python -m bench.pipeline [null|http|wide|pile|deep] [sqlite|postgres] [deliveries] [accounts]

Every delivery leaves its intent, its ledger row and its notice, which are counted; accounts have no spacing.
`http` sends real requests to a server on this machine, beside a bare loop of the same client; `wide` drains one lane
with 32 calls at once beside 32 lanes with one; `pile` times a claim beside a million deliveries that cannot run, `deep`
one of lanes in which a million wait. The bars (`bars.judge_road`) are judged at the end, and one
that is not met makes the exit code 1.
"""

import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime

from bench.bars import judge_pipeline, tell
from bench.pipeline_backlog import RUNNABLE, claim_milliseconds, deepen, pile_up
from bench.pipeline_http import bare_rate, client_to, receiver, sender_to
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, ClaimedDelivery, NewDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.schedule import schedule
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker
from cadenza.providers.base import AttemptContext, Capabilities, Idempotency, Prepared, Problem
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import Finding, Found, Outcome, Sent
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx
from tests.servers.postgres import PrivatePostgres

HOME = "bench"
WIDTH = 32
EVIDENCE = {  # of each delivery that is out
    "sent": "SELECT count(*) AS n FROM delivery WHERE state = 'sent'",
    "intents": "SELECT count(DISTINCT delivery_id) AS n FROM attempt WHERE outcome = 'Sent'",
    "ledger rows": "SELECT count(DISTINCT delivery_id) AS n FROM activity WHERE state = 'success'",
    "events": "SELECT count(DISTINCT subject_id) AS n FROM outbox WHERE kind = 'delivery.sent'",
}


class Null:
    """A network that takes everything at once."""

    name = "null"
    channels = (Channel.WEBHOOK,)

    def capabilities(self, channel: Channel) -> Capabilities:
        return Capabilities(idempotency=Idempotency.NATIVE, findable=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        return []

    async def prepare(self, call: AttemptContext) -> Prepared:
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        return Sent(call.key)

    async def find_out(self, call: AttemptContext) -> Finding:
        return Found(call.key)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens:
        return call.tokens


@asynccontextmanager
async def database(kind: str) -> AsyncGenerator[Operations]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            async with open_product(
                f"sqlite:///{folder}/road.sqlite3", clock=SystemClock()
            ) as opened:
                yield opened
        return
    with PrivatePostgres.create(fsync=True) as server:
        async with open_product(server.dsn, clock=SystemClock()) as opened:
            yield opened


async def fill(operations: Operations, deliveries: int, accounts: int, width: int = 1) -> None:
    def people(tx: Tx, now: datetime) -> None:
        tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (:h, 'b', 'UTC', :n)",
            h=HOME,
            n=now,
        )
        for n in range(accounts):
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
                VALUES (:home, :id, 'null', :id, 'UTC', :now)
                """,
                home=HOME,
                id=f"a{n}",
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=f"a{n}", in_flight_limit=width)

    def posts(first: int, last: int, tx: Tx, now: datetime) -> None:
        new = [
            NewDelivery(
                id=f"d{n:08}",
                workspace_id=HOME,
                account_id=f"a{n % accounts}",
                channel=Channel.WEBHOOK,
                action=Action.POST,
                due_at=now,
                content='{"text":"hello"}',
            )
            for n in range(first, last)
        ]
        schedule(tx, now, new)

    await operations.run(people)
    for first in range(0, deliveries, 500):
        last = min(first + 500, deliveries)
        await operations.run(lambda tx, now, f=first, t=last: posts(f, t, tx, now))


async def pipeline_rate(
    operations: Operations,
    sender: Sender,
    http: OutboundClient,
    *,
    deliveries: int,
    concurrency: int,
) -> float:
    """Run one worker until all is settled; return how many a second."""
    ids = itertools.count(1)
    source = DeliverySource(operations)

    def open_sender(_ticket: ClaimedDelivery) -> Sender:
        return sender

    publisher = Publisher(
        source,
        operations,
        open_sender=open_sender,
        http=http,
        files=NoFiles(),
        clock=SystemClock(),
        rng=SeededRandom(1),
        new_id=lambda: f"t{next(ids):08}",
    )
    worker = Worker(
        source,
        publisher,
        name="bench",
        queues=[QUEUE],
        clock=SystemClock(),
        concurrency=concurrency,
    )
    began = time.perf_counter()
    running = asyncio.create_task(worker.run())
    while worker.meters.settled < deliveries:
        await asyncio.sleep(0.01)
    took = time.perf_counter() - began
    worker.stop()
    await running
    for what, sql in EVIDENCE.items():
        found = await operations.read(lambda tx, _, sql=sql: tx.value(sql))
        assert found == deliveries, f"{found} {what} of {deliveries}"
    return deliveries / took


async def null(kind: str = "sqlite", deliveries: int = 4000, accounts: int = 200) -> int:
    """Measure the pipeline alone."""
    rate = await null_rate(kind, deliveries, accounts)
    print(f"{kind}: {deliveries} sent, {rate:,.0f} deliveries/s")
    return tell(judge_pipeline(rate=rate))


async def null_rate(kind: str, deliveries: int, accounts: int, *, width: int = 1) -> float:
    """Send all by a network that takes everything at once."""
    sender = Sender(
        Null(), AccountRef(id="a", remote_id="a"), Tokens(access=Secret("token")), App(base_url="")
    )
    async with (
        database(kind) as operations,
        OutboundClient(Policy(), clock=SystemClock()) as http,
    ):
        await fill(operations, deliveries, accounts, width)
        return await pipeline_rate(
            operations, sender, http, deliveries=deliveries, concurrency=accounts * width
        )


async def wide(kind: str = "sqlite", deliveries: int = 10_000, rounds: int = 3) -> int:
    """Drain one lane that lets 32 calls run at once, and 32 lanes with one each, in turns."""
    one, many = 0.0, 0.0
    for _ in range(rounds):
        many += deliveries / await null_rate(kind, deliveries, WIDTH)
        one += deliveries / await null_rate(kind, deliveries, 1, width=WIDTH)
    print(
        f"{kind}: {deliveries} leave {WIDTH} lanes in {many / rounds:.1f} s, one lane with width {WIDTH} in"
        f" {one / rounds:.1f} s; ratio {one / many:.2f}"
    )
    return tell(judge_pipeline(wide=one / many))


async def http(kind: str = "sqlite", deliveries: int = 1000, accounts: int = 50) -> int:
    """Measure the pipeline with real requests, between two bare loops of the same client."""
    with receiver() as port:
        sender = sender_to(port)
        async with database(kind) as operations, client_to(port, accounts) as client:
            await fill(operations, deliveries, accounts)
            before = await bare_rate(client, sender, deliveries, accounts)
            rate = await pipeline_rate(
                operations, sender, client, deliveries=deliveries, concurrency=accounts
            )
            after = await bare_rate(client, sender, deliveries, accounts)
    bare = (before + after) / 2
    print(
        f"{kind}: {rate:,.0f} deliveries/s by HTTP; the bare client {before:,.0f} and {after:,.0f};"
        f" ratio {rate / bare:.2f}"
    )
    return tell(judge_pipeline(of_bare=rate / bare))


async def pile(kind: str = "sqlite", deliveries: int = 1_000_000) -> int:
    """Measure a claim alone, and beside a pile that cannot run."""
    async with database(kind) as operations:
        await fill(operations, RUNNABLE, RUNNABLE)
        alone = await claim_milliseconds(operations)
        await operations.run(lambda tx, now: pile_up(tx, now, deliveries))
        beside = await claim_milliseconds(operations)
    print(
        f"{kind}: a claim of {RUNNABLE} takes {alone:.1f} ms alone, {beside:.1f} ms beside"
        f" {deliveries:,} that cannot run; ratio {beside / alone:.2f}"
    )
    return tell(judge_pipeline(beside=beside / alone))


async def deep(kind: str = "sqlite", deliveries: int = 1_000_000) -> int:
    """Measure a claim from lanes in which a hundred wait each beside one where a million wait together, in turns."""
    few = 100 * RUNNABLE
    async with database(kind) as shallow, database(kind) as full:
        for operations, count in ((shallow, few), (full, deliveries)):
            await fill(operations, 0, RUNNABLE)
            await operations.run(lambda tx, now, n=count: deepen(tx, now, n))
        pairs = [
            (await claim_milliseconds(shallow), await claim_milliseconds(full)) for _ in range(5)
        ]
    before, after = sorted(pairs, key=lambda pair: pair[1] / pair[0])[2]
    print(
        f"{kind}: a claim of {RUNNABLE} takes {before:.1f} ms where {few:,} wait in {RUNNABLE} lanes,"
        f" {after:.1f} ms where {deliveries:,} do; ratio {after / before:.2f}"
    )
    return tell(judge_pipeline(deep=after / before))


class NoFiles:
    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


WORKS = {"null": null, "http": http, "wide": wide, "pile": pile, "deep": deep}

if __name__ == "__main__":
    words = sys.argv[1:]
    work = WORKS[words.pop(0)] if words and words[0] in WORKS else null
    kind, sizes = (words or ["sqlite"])[0], [int(word) for word in words[1:]]
    sys.exit(asyncio.run(work(kind, *sizes)))
