"""The whole pipeline, with the engine's worker, a real adapter and a simulated network."""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from cadenza.contacts.unsubscribe import Subscriber, unsubscribe
from cadenza.core.channels import Channel
from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.render import Files
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.demo.simulator.faults import Kind
from cadenza.engine.worker import Worker
from cadenza.providers.outcome import Sent
from cadenza.sql.tx import Row
from tests.deliveries.conftest import HOME, Pipeline
from tests.providers.contract import Scene, patient_client
from tests.providers.facebook.fixtures import SWITCH, facebook
from tests.providers.mastodon.fixtures import POSTS, mastodon


class NoFiles:
    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


@asynccontextmanager
async def working(
    pipeline: Pipeline,
    scene: Scene,
    lease: timedelta = timedelta(seconds=5),
    files: Files | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[tuple[Publisher, Worker]]:
    ids = itertools.count(1)

    def open_sender(_ticket: ClaimedDelivery) -> Sender:
        return Sender(scene.provider, scene.account, scene.tokens, scene.app)

    source = DeliverySource(pipeline.operations)
    publisher = Publisher(
        source,
        pipeline.operations,
        open_sender=open_sender,
        http=scene.http,
        files=files or NoFiles(),
        clock=clock or SystemClock(),
        rng=SeededRandom(1),
        new_id=lambda: f"attempt-{next(ids):06}",
    )
    worker = Worker(
        source, publisher, name="w1", queues=[QUEUE], clock=SystemClock(), lease=lease, poll=0.05
    )
    running = asyncio.create_task(worker.run())
    await worker.started.wait()
    try:
        yield publisher, worker
    finally:
        worker.stop()
        await running


async def until(pipeline: Pipeline, id_: str, *states: str) -> Row:
    async with asyncio.timeout(60):
        while True:
            row = await pipeline.row("delivery", id_)
            if row["state"] in states:
                return row
            await asyncio.sleep(0.02)


async def test_a_due_post_is_seen_once_and_its_address_is_kept(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene):
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        row = await until(pipeline, id_, "sent")
        assert scene.visible() == ["Good morning"]
        assert row["url"].startswith("http")


async def test_what_follows_a_post_cannot_make_it_fail(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address could not be read, the first comment was refused: the post is out all the same."""

    async def finish(*_: object) -> Sent:
        raise ConnectionError("what comes after the post")

    async with mastodon() as (scene, _world), working(pipeline, scene):
        monkeypatch.setattr(type(scene.provider), "finish", finish)
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        row = await until(pipeline, id_, "sent", "failed", "unconfirmed")
        assert (row["state"], row["attempts"]) == ("sent", 1)
        assert scene.visible() == ["Good morning"]


@pytest.mark.parametrize(
    "fault", [Kind.RESET_AFTER, Kind.DROP_AFTER, Kind.SILENCE_AFTER, Kind.TRUNCATE_AFTER]
)
async def test_a_lost_answer_is_unconfirmed_that_is_looked_into_and_never_a_second_post(
    pipeline: Pipeline, fault: Kind
) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene) as (publisher, _):
        scene.simulated.faults.plan(fault, POSTS)
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        uncertain = await until(pipeline, id_, "unconfirmed", "sent")
        assert scene.visible() == ["Good morning"]
        if uncertain["state"] == "unconfirmed":
            await pipeline.operations.run(
                lambda tx, now: tx.run(
                    "UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2)
                )
            )
            await Reconciler(
                pipeline.operations, publisher.find_out, clock=SystemClock()
            ).run_once()
        row = await until(pipeline, id_, "sent")
        assert scene.visible() == ["Good morning"]
        assert row["remote_id"]


async def test_a_post_that_was_found_tells_of_its_first_comment(pipeline: Pipeline) -> None:
    async with facebook() as (scene, _world), working(pipeline, scene) as (publisher, _):
        scene.simulated.faults.plan(Kind.RESET_AFTER, SWITCH)
        content = '{"text":"Good morning","first_comment":"More"}'
        id_ = await pipeline.post(content=content, channel=Channel.FACEBOOK_PAGE)
        await until(pipeline, id_, "unconfirmed")
        await pipeline.operations.run(
            lambda tx, now: tx.run(
                "UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2)
            )
        )
        await Reconciler(pipeline.operations, publisher.find_out, clock=SystemClock()).run_once()
        row = await until(pipeline, id_, "sent")
        assert "first comment" in (row["reason"] or "")


async def test_what_provably_never_arrived_is_sent_again(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene) as (publisher, _):
        scene.simulated.faults.plan(Kind.DROP_BEFORE, POSTS)
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        uncertain = await until(pipeline, id_, "unconfirmed", "sent")
        if uncertain["state"] == "unconfirmed":
            await pipeline.operations.run(
                lambda tx, now: tx.run(
                    "UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2)
                )
            )
            await Reconciler(
                pipeline.operations, publisher.find_out, clock=SystemClock()
            ).run_once()
        await until(pipeline, id_, "sent")
        assert scene.visible() == ["Good morning"]


async def test_the_parts_of_a_thread_follow_each_other(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene):
        id_ = await pipeline.post(content='{"text":"one","parts":["two","three"]}')
        row = await until(pipeline, id_, "sent")
        assert scene.visible() == ["one", "two", "three"]
        assert row["attempts"] == 1  # one try, whatever the number of its parts


async def test_a_thread_whose_middle_answer_was_lost_goes_on_where_it_stopped(
    pipeline: Pipeline,
) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene) as (publisher, _):
        scene.simulated.faults.plan(Kind.DROP_AFTER, POSTS, nth=2)
        id_ = await pipeline.post(content='{"text":"one","parts":["two","three"]}')
        await until(pipeline, id_, "unconfirmed")
        assert scene.visible() == ["one", "two"]
        await pipeline.operations.run(
            lambda tx, now: tx.run(
                "UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2)
            )
        )
        await Reconciler(pipeline.operations, publisher.find_out, clock=SystemClock()).run_once()
        await until(pipeline, id_, "sent")
        assert scene.visible() == ["one", "two", "three"]


async def test_content_that_does_not_fit_fails_before_any_call(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), working(pipeline, scene):
        id_ = await pipeline.post(content='{"text":"' + "x" * 6000 + '"}')
        row = await until(pipeline, id_, "failed")
        assert scene.visible() == []
        assert row["attempts"] == 0
        assert row["reason"]


@asynccontextmanager
async def patient(scene: Scene) -> AsyncGenerator[None]:
    """Give the scene a client that waits as long as people do: twenty at once take time on a busy machine."""
    async with patient_client(scene.simulated) as http:
        scene.http = http
        yield


async def test_twenty_accounts_posts_leave_together(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), patient(scene), working(pipeline, scene):
        for n in range(20):
            await pipeline.connect(f"account-{n}")
        ids = [
            await pipeline.post(f"account-{n}", content='{"text":"post ' + str(n) + '"}')
            for n in range(20)
        ]
        for id_ in ids:
            await until(pipeline, id_, "sent")
        assert sorted(scene.visible()) == sorted(f"post {n}" for n in range(20))


class NappingClock(SystemClock):
    """Its process sleeps: monotonic time goes on while nothing is done."""

    slept = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.slept


@pytest.mark.parametrize("seconds", [0.0, 1.5])
async def test_a_call_that_is_not_begun_within_a_second_needs_a_new_permit(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Whoever unsubscribes while a worker sleeps between permit and call is not written to."""
    clock, names = NappingClock(), iter((True,))
    async with mastodon() as (scene, _world), working(pipeline, scene, clock=clock) as (sending, _):
        call = sending._ending.run

        async def nap(*given: Any) -> Any:
            if next(names, False):
                await pipeline.operations.run(
                    lambda tx, now: unsubscribe(tx, now, Subscriber(HOME, "mastodon", "@ben"))
                )
                clock.slept += seconds
            return await call(*given)

        monkeypatch.setattr(sending._ending, "run", nap)
        id_ = await pipeline.post(content='{"text":"Good morning"}', recipient="@ben")
        row = await until(pipeline, id_, "sent", "skipped")
        assert row["state"] == ("skipped" if seconds else "sent")
        assert scene.visible() == ([] if seconds else ["Good morning"])
