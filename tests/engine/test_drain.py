"""Draining runs what is due with the real parts, and steps a virtual clock to what comes due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.engine import Engine, RetryPolicy, Running, Snooze, State
from cadenza.engine.errors import InvalidJob
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.drain import drain


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest, clock: VirtualClock, tmp_path: Path) -> Engine:
    stores = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/jobs.sqlite3"}
    return Engine(stores[request.param], clock=clock)


async def test_what_is_due_runs_and_what_is_not_waits(engine: Engine) -> None:
    seen: list[str] = []
    greet = engine.declare(_note(seen), name="greet")
    async with engine:
        await greet.enqueue(name="Ada")
        await greet.using(queue="mail").enqueue(name="Ben")
        later = await greet.using(delay=60).enqueue(name="Cy")
        drained = await drain(engine)
        assert sorted(seen) == ["Ada", "Ben"]
        assert drained.done == 2
        assert (await engine.get(later.id)).state is State.WAITING


async def test_only_the_named_queues_are_drained(engine: Engine) -> None:
    seen: list[str] = []
    greet = engine.declare(_note(seen), name="greet")
    async with engine:
        await greet.enqueue(name="Ada")
        await greet.using(queue="mail").enqueue(name="Ben")
        await drain(engine, queues=["mail"])
        assert seen == ["Ben"]


async def test_a_failing_job_is_tried_again_at_its_times_until_it_fails_for_good(
    engine: Engine, clock: VirtualClock
) -> None:
    calls: list[float] = []

    @engine.task(retry=RetryPolicy(limit=2, delay=timedelta(seconds=10), jitter=0))
    def doomed() -> None:
        calls.append(clock.monotonic())
        raise ValueError("no")

    async with engine:
        job = await doomed.enqueue()
        drained = await drain(engine, clock.now() + timedelta(hours=1))
        assert calls == [0.0, 10.0, 30.0]
        assert drained.counts == {Verdict.RETRY: 2, Verdict.FAILED: 1}
        assert drained.jobs == (job.id,) * 3
        assert (await engine.get(job.id)).state is State.FAILED
        assert clock.monotonic() == 3600


async def test_a_day_of_an_hourly_schedule_passes_in_a_moment(
    engine: Engine, clock: VirtualClock
) -> None:
    hours: list[int] = []

    @engine.task
    async def chime(job: Running) -> None:
        hours.append(job.due_at.hour)

    async with engine:
        await engine.schedule("chime", chime, cron="0 * * * *")
        drained = await drain(engine, clock.now() + timedelta(days=1))
    assert hours == [*range(1, 24), 0]
    assert drained.fired == drained.done == 24


async def test_a_snooze_comes_back_by_the_clock(engine: Engine, clock: VirtualClock) -> None:
    @engine.task
    async def patient(job: Running) -> str:
        if clock.monotonic() < 300:
            raise Snooze(100)
        return f"attempt {job.attempt}"

    async with engine:
        job = await patient.enqueue()
        await drain(engine, clock.now() + timedelta(hours=1))
        assert await engine.output(job.id) == "attempt 1"


async def test_a_time_limit_ends_a_run() -> None:
    engine = Engine("memory://")

    @engine.task(time_limit=0.05, retry=0)
    async def endless() -> None:
        await asyncio.Event().wait()

    async with engine:
        await endless.enqueue()
        assert (await drain(engine)).failed == 1


async def test_a_real_clock_cannot_be_set_on() -> None:
    async with Engine("memory://") as engine:
        with pytest.raises(InvalidJob, match="VirtualClock"):
            await drain(engine, engine.clock.now() + timedelta(hours=1))


async def test_a_job_that_never_ends_is_noticed(engine: Engine) -> None:
    @engine.task
    async def again() -> None:
        raise Snooze(0)

    async with engine:
        await again.enqueue()
        with pytest.raises(InvalidJob, match="again"):
            await drain(engine, most=20)


def _note(seen: list[str]) -> Callable[[str], None]:
    def greet(name: str) -> None:
        seen.append(name)

    return greet
