"""What a store cannot do is an error when the engine is set up, never a weaker meaning."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.engine import Engine, Pace
from cadenza.engine.errors import InvalidJob, MissingTrait
from cadenza.engine.stores.redis import RedisStore

PACE = Pace("account", timedelta(seconds=3))


async def call() -> None: ...


@pytest.mark.parametrize("needs", [["durable"], ["many_processes", "durable"]])
async def test_a_store_that_lacks_what_is_needed_is_not_opened(needs: Iterable[str]) -> None:
    with pytest.raises(MissingTrait, match="the memory store lacks"):
        await Engine("memory://", needs=needs).open()


async def test_a_store_that_has_it_opens(tmp_path: Path) -> None:
    needs = ["durable", "many_processes", "joins_transactions", "keys_span_queues"]
    async with Engine(f"sqlite:///{tmp_path}/jobs.sqlite3", needs=needs) as engine:
        assert engine.needs == set(needs)


async def test_redis_counts_keys_by_queue_and_says_so_when_asked(redis_database: str) -> None:
    with pytest.raises(MissingTrait, match="the redis store lacks keys_span_queues"):
        await Engine(redis_database, needs=["keys_span_queues"]).open()


async def test_a_need_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidJob, match="did you mean 'durable'"):
        await Engine("memory://", needs=["durabel"]).open()


def test_a_pace_over_two_queues_is_refused_where_keys_are_counted_apart() -> None:
    engine = Engine(RedisStore("redis://127.0.0.1:1/0"))
    engine.declare(call, name="mail", queue="mail", pace=PACE)
    engine.declare(call, name="newsletter", queue="mail", pace=PACE)
    with pytest.raises(MissingTrait, match="share the pace 'account'"):
        engine.declare(call, name="text", queue="text", pace=PACE)
    assert "text" not in engine.tasks


def test_a_pace_may_span_queues_elsewhere() -> None:
    engine = Engine("memory://")
    engine.declare(call, name="mail", queue="mail", pace=PACE)
    engine.declare(call, name="text", queue="text", pace=PACE)
