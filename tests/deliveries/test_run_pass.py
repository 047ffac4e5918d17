"""A pass of the worker for an outside cron: it sends what is due, ends, and may overlap."""

import asyncio
import itertools
from datetime import timedelta

from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.run_pass import PassReport, publishing_run
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker
from tests.deliveries.conftest import Pipeline
from tests.deliveries.test_publish import NoFiles
from tests.providers.contract import Scene
from tests.providers.mastodon.fixtures import mastodon

_names = itertools.count(1)


async def run(pipeline: Pipeline, scene: Scene, seconds: float = 10) -> PassReport:
    name = f"pass-{next(_names)}"
    ids = itertools.count(1)

    def open_sender(_ticket: ClaimedDelivery) -> Sender:
        return Sender(scene.provider, scene.account, scene.tokens, scene.app)

    clock = SystemClock()
    source = DeliverySource(pipeline.operations)
    publisher = Publisher(
        source,
        pipeline.operations,
        open_sender=open_sender,
        http=scene.http,
        files=NoFiles(),
        clock=clock,
        rng=SeededRandom(1),
        new_id=lambda: f"{name}-{next(ids):06}",
    )
    worker = Worker(source, publisher, name=name, queues=[QUEUE], clock=clock, grace=5.0)
    return await publishing_run(worker, source, clock=clock, seconds=seconds)


async def test_a_pass_sends_what_is_due_and_ends(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        for n in range(3):
            await pipeline.post(("ada", "ben")[n % 2], content=f'{{"text":"post {n}"}}')
        await pipeline.post(due=timedelta(hours=1), content='{"text":"later"}')
        assert await run(pipeline, scene) == PassReport(3, complete=True)
        assert sorted(scene.visible()) == ["post 0", "post 1", "post 2"]
        assert await run(pipeline, scene) == PassReport(0, complete=True)


async def test_passes_that_overlap_send_each_post_once(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        for n in range(8):
            await pipeline.post(("ada", "ben")[n % 2], content=f'{{"text":"post {n}"}}')
        reports = await asyncio.gather(*(run(pipeline, scene) for _ in range(3)))
        assert sum(report.ran for report in reports) == 8
        assert sorted(scene.visible()) == [f"post {n}" for n in range(8)]


async def test_unapproved_posts_are_not_sent_by_a_pass(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        id_ = await pipeline.post(approved=False)
        assert await run(pipeline, scene) == PassReport(0, complete=True)
        assert scene.visible() == []
        assert (await pipeline.row("delivery", id_))["state"] == "draft"


async def test_a_pass_whose_time_is_over_leaves_the_rest_for_the_next(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        for n in range(4):
            await pipeline.post(content=f'{{"text":"post {n}"}}')
        report = await run(pipeline, scene, seconds=0.01)
        assert not report.complete
        assert (await run(pipeline, scene)).complete
        assert sorted(scene.visible()) == [f"post {n}" for n in range(4)]
