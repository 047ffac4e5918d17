"""Many jobs of one task go in by a way of their own, and look like any others."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from cadenza.engine import Engine
from cadenza.engine.errors import InvalidJob
from cadenza.engine.job import Job, NewJob
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
OWN = ("id", "created_at", "run_at")


@pytest.fixture
async def store(valkey: PrivateValkey) -> AsyncIterator[RedisStore]:
    store = RedisStore(valkey.url, prefix="insert-alike")
    await store.open()
    yield store
    for key in await store._wire.ask("KEYS", "insert-alike:*"):
        await store._wire.ask("DEL", key)
    await store.close()


def plain(job: Job) -> dict[str, object]:
    return {name: getattr(job, name) for name in job.__slots__ if name not in OWN}


@pytest.mark.parametrize(
    "template",
    [
        NewJob(task="greet", priority=-3, options='{"keep":false}'),
        NewJob(task="greet", delay=timedelta(hours=1), priority=7),
        NewJob(task="greet", lane="ada", tags=("one", "two")),
    ],
    ids=["due", "deferred", "in a lane"],
)
async def test_alike_jobs_are_kept_like_others(store: RedisStore, template: NewJob) -> None:
    payloads = [f'{{"n":{n}}}' for n in range(1200)]
    answers = await store.insert_uniform(template, lambda: iter(payloads), len(payloads))
    others = await store.insert([replace(template, payload=each) for each in payloads])
    assert {answer.outcome for answer in answers} == {"inserted"}
    ids = [answer.id for answer in answers]
    assert ids == sorted(set(ids))
    found = await store.get(ids)
    assert [job.payload for job in found] == payloads
    assert [job.run_at for job in found] == [answer.run_at for answer in answers]
    usual = await store.get([answer.id for answer in others])
    assert [plain(job) for job in found] == [plain(job) for job in usual]


async def test_alike_jobs_are_handed_out_in_their_order(store: RedisStore) -> None:
    template = NewJob(task="greet", queue="alike")
    answers = await store.insert_uniform(template, lambda: iter(["1", "2", "3"]), 3)
    batch = await store.claim("alike", limit=9, worker="ada", lease=LEASE)
    assert [job.id for job in batch.jobs] == [answer.id for answer in answers]


async def test_one_payload_that_is_refused_adds_none(valkey: PrivateValkey) -> None:
    async with Engine(f"{valkey.url}?prefix=insert-refused") as engine:

        @engine.task
        async def greet(name: str) -> None:
            raise NotImplementedError

        with pytest.raises(InvalidJob):
            await greet.enqueue_many([{"name": "Ada"}, {"nobody": 1}])
        assert await engine.store.tally() == []
