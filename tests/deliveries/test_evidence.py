"""What a call came to is kept, whoever holds its delivery by then."""

import asyncio
import dataclasses
from datetime import datetime, timedelta

from cadenza.deliveries.rescue import rescue
from cadenza.providers.base import AttemptContext
from cadenza.providers.outcome import Outcome, Sent
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import Pipeline
from tests.deliveries.test_publish import until, working
from tests.providers.mastodon.fixtures import mastodon


class Slow:
    """An adapter whose call takes as long as the test wants."""

    def __init__(self, inner: object) -> None:
        self._inner = inner
        self.called = asyncio.Event()
        self.answer = asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def publish(self, call: AttemptContext) -> Outcome:
        self.called.set()
        await self.answer.wait()
        return Sent("remote-1")


def lose(tx: Tx, now: datetime) -> None:
    """Let the lease run out and be taken back, with no heartbeat between the two."""
    tx.run("UPDATE delivery SET leased_until = :now", now=now)
    rescue(tx, now, crash_limit=5)


async def test_a_call_whose_lease_was_lost_still_brings_its_evidence(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        slow = Slow(scene.provider)
        slowed = dataclasses.replace(scene, provider=slow)
        async with working(pipeline, slowed, lease=timedelta(seconds=1)) as (publisher, worker):
            id_ = await pipeline.post(content='{"text":"Good morning"}')
            await asyncio.wait_for(slow.called.wait(), 30)
            await pipeline.operations.run(lose)
            assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"
            async with asyncio.timeout(30):
                while worker.inventory.busy:  # the heartbeat cuts the run short
                    await asyncio.sleep(0.02)
            slow.answer.set()
            row = await until(pipeline, id_, "sent")
            await publisher.wait_for_calls()

    assert row["remote_id"] == "remote-1"
    (attempt,) = await pipeline.rows("attempt")
    assert attempt["outcome"] == "Sent"
    (ledger,) = await pipeline.rows("activity")
    assert (ledger["state"], bool(ledger["counts"])) == ("success", True)
