"""How long the irreversible call may take: longer where files travel in it, by their size."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from cadenza.core.channels import Channel
from cadenza.providers.base import LONGEST, QUICKLY, AttemptContext, Capabilities, Prepared
from cadenza.providers.mastodon.publish import Mastodon
from cadenza.providers.message import Message
from cadenza.providers.outcome import Outcome
from cadenza.providers.registry import all_providers
from tests.deliveries.conftest import Pipeline
from tests.deliveries.test_publish import until, working
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.pictures import picture

A_FILE = '{"text":"Big","media":[{"file":"a","kind":"image","mime":"image/png","size":35}]}'


class CarriesFiles(Mastodon):
    """A network whose call carries the files, over a line of one byte a second."""

    def capabilities(self, channel: Channel) -> Capabilities:
        return replace(super().capabilities(channel), pace=1)

    async def prepare(self, call: AttemptContext) -> Prepared:
        return Prepared({})


class Impatient(Capabilities):
    def takes(self, message: Message) -> timedelta:
        return timedelta(seconds=0.2)


class Dawdles(CarriesFiles):
    def capabilities(self, channel: Channel) -> Capabilities:
        usual = super().capabilities(channel)
        return Impatient(idempotency=usual.idempotency, findable=usual.findable)

    async def publish(self, call: AttemptContext) -> Outcome:
        await asyncio.sleep(20)
        return await super().publish(call)


@pytest.mark.parametrize(
    ("pace", "size", "takes"),
    [
        (None, 10_000_000, QUICKLY),
        (1_000_000, 0, QUICKLY),
        (1_000_000, 10_000_000, QUICKLY + timedelta(seconds=10)),
        (1_000, 10_000_000, LONGEST),
    ],
)
def test_a_call_takes_longer_by_size_within_bounds(
    pace: int | None, size: int, takes: timedelta
) -> None:
    usual = Mastodon().capabilities(Channel.MASTODON)
    message = Message(channel=Channel.MASTODON, media=(replace(picture(), size=size),))
    assert replace(usual, pace=pace).takes(message) == takes


def test_networks_whose_call_carries_the_files_say_so() -> None:
    paced = {
        name
        for name, provider in all_providers().items()
        if provider.capabilities(provider.channels[0]).pace is not None
    }
    assert {"discord", "telegram", "smtp", "unipile"} <= paced
    assert not paced & {"mastodon", "bluesky", "instagram", "x", "linkedin", "threads", "webhook"}


async def test_the_permits_deadline_lies_after_the_calls_time(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _):
        scene.provider = CarriesFiles()
        async with working(pipeline, scene):
            await until(pipeline, await pipeline.post(content=A_FILE), "sent")
        (attempt,) = await pipeline.rows("attempt")
        assert attempt["deadline_at"] - attempt["began_at"] == timedelta(seconds=25 + 35 + 5)


async def test_words_alone_keep_the_usual_time(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _):
        scene.provider = CarriesFiles()
        async with working(pipeline, scene):
            await until(pipeline, await pipeline.post(content='{"text":"Small"}'), "sent")
        (attempt,) = await pipeline.rows("attempt")
        assert attempt["deadline_at"] - attempt["began_at"] == timedelta(seconds=30)


async def test_a_call_that_outlasts_its_own_time_is_unconfirmed(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _):
        scene.provider = Dawdles()
        async with working(pipeline, scene):
            await until(pipeline, await pipeline.post(content='{"text":"Slow"}'), "unconfirmed")
