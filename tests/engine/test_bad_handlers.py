"""Whatever a handler raises or returns becomes an outcome; the worker lives on."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import pytest

from cadenza.engine import Cancel, Engine, InvalidJob, RateLimited, Retry, Snooze, State
from cadenza.engine.job import Job
from tests.engine.conftest import finished, working


class Rude(BaseException):
    """Not an Exception on purpose."""


class Mute(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


async def outcome(engine: Engine, raising: Callable[[], BaseException]) -> Job:
    """Run a job that raises, then one that does not, in the same slot."""

    @engine.task(retry=0)
    async def bad() -> None:
        raise raising()

    @engine.task
    async def good() -> None: ...

    async with working(engine, concurrency=1):
        (job,) = await finished(engine, (await bad.enqueue()).id)
        await finished(engine, (await good.enqueue()).id)
    return job


@pytest.mark.parametrize(
    "raising",
    [
        lambda: Rude("out"),
        Mute,
        lambda: ValueError("lone \ud800 surrogate and \x00"),
        lambda: BaseExceptionGroup("two", [Rude("a"), ValueError("b")]),
        lambda: Retry(datetime(2026, 1, 1)),  # noqa: DTZ001 - a naive one is what is tested
        lambda: Retry("tomorrow"),  # pyright: ignore[reportArgumentType]
        lambda: Snooze(timedelta.max),
        lambda: Snooze(float("nan")),
        lambda: Snooze(-1),
        lambda: RateLimited(timedelta.max),
    ],
)
async def test_anything_raised_fails_the_job_and_nothing_else(
    engine: Engine, raising: Callable[[], BaseException]
) -> None:
    job = await outcome(engine, raising)

    assert (job.state, job.attempts) == (State.FAILED, 1)
    assert json.loads(job.errors[-1])["message"]


@pytest.mark.parametrize("reason", ["lone \ud800 surrogate and \x00", ValueError("an error")])
async def test_a_cancel_takes_any_reason(engine: Engine, reason: Any) -> None:
    job = await outcome(engine, lambda: Cancel(reason))

    assert job.state is State.CANCELED


async def test_options_of_a_newer_release_do_not_end_an_older_worker(engine: Engine) -> None:
    @engine.task
    async def good() -> None: ...

    new = engine.job(good)
    future = type(new)(task=new.task, options='{"colour":"red"}')
    (answer,) = await engine.store.insert([future])
    async with working(engine, concurrency=1):
        (job,) = await finished(engine, answer.id)

    assert job.state is State.DONE


async def test_a_plain_wrapper_around_an_async_handler_is_awaited(engine: Engine) -> None:
    def logged(function: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Awaitable[int]:
            return function(*args, **kwargs)

        return call

    @engine.task
    @logged
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    async with working(engine):
        (job,) = await finished(engine, (await add.enqueue(a=1, b=2)).id)

    assert await engine.output(job.id) == 3


def test_a_generator_is_no_task() -> None:
    engine = Engine("memory://")

    def numbers() -> Iterator[int]:
        yield 1

    async def letters() -> AsyncIterator[str]:
        yield "a"

    for handler in (numbers, letters):
        with pytest.raises(InvalidJob, match="generator"):
            engine.declare(handler)
