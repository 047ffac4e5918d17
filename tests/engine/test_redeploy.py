"""What a program says again at each start must not undo what happened meanwhile."""

from datetime import timedelta
from typing import Any

from cadenza.engine import Debounce, Engine, Limit, Pace, Rate, Throttle, Unique, While
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.drain import drain


def engine_at_midnight() -> tuple[Engine, VirtualClock]:
    clock = VirtualClock()
    engine = Engine(MemoryStore(clock=clock), clock=clock)

    @engine.task
    async def report(day: str = "") -> None: ...

    return engine, clock


async def test_a_run_missed_while_down_is_made_up_after_the_schedule_is_said_again() -> None:
    engine, clock = engine_at_midnight()
    await engine.schedule("nightly", "report", cron="0 3 * * *")
    clock.shift(timedelta(hours=5))
    await engine.schedule("nightly", "report", cron="0 3 * * *")

    assert (await drain(engine)).done == 1


async def test_another_payload_keeps_the_missed_run_and_another_time_does_not() -> None:
    engine, clock = engine_at_midnight()
    await engine.schedule("nightly", "report", cron="0 3 * * *")
    await engine.schedule("moved", "report", cron="0 3 * * *")
    clock.shift(timedelta(hours=5))
    await engine.schedule("nightly", "report", {"day": "all"}, cron="0 3 * * *")
    await engine.schedule("moved", "report", cron="0 4 * * *")

    assert (await drain(engine)).done == 1


async def test_a_paused_schedule_stays_paused_when_it_is_said_again() -> None:
    engine, _ = engine_at_midnight()
    await engine.schedule("nightly", "report", cron="0 3 * * *")
    await engine.pause_schedule("nightly")

    assert (await engine.schedule("nightly", "report", cron="0 4 * * *")).paused
    assert not (await engine.schedule("nightly", "report", cron="0 4 * * *", paused=False)).paused


async def test_saying_a_schedule_again_changes_nothing() -> None:
    engine, _ = engine_at_midnight()
    first = await engine.schedule("nightly", "report", cron="0 3 * * *")

    assert await engine.schedule("nightly", "report", cron="0 3 * * *") == first


def test_rules_and_rates_take_seconds_as_every_duration_does() -> None:
    engine, _ = engine_at_midnight()
    minute = timedelta(minutes=1)
    seconds: Any = 60

    assert engine.job("report", pace=Pace("k", seconds)).rule == Pace("k", minute)
    assert engine.job("report", throttle=Throttle("k", seconds)).rule == Throttle(
        "report:k", minute
    )
    debounce = engine.job("report", debounce=Debounce("k", seconds, seconds)).rule
    assert debounce == Debounce("report:k", minute, minute)
    limit = engine.job("report", lane="l", limit=Limit(rate=Rate(1, seconds))).limit
    assert limit == Limit(rate=Rate(1, minute))


def test_a_unique_key_takes_its_while_as_a_word() -> None:
    engine, _ = engine_at_midnight()

    word: Any = "queued"
    rule = engine.job("report", unique=Unique("k", word)).rule

    assert isinstance(rule, Unique)
    assert rule.while_ is While.QUEUED


async def test_a_call_can_lift_its_tasks_time_limit() -> None:
    engine = Engine("memory://")

    @engine.task(time_limit=5)
    async def work() -> None: ...

    said = engine.job(work, time_limit=None).options
    assert said is not None
    assert work.options.apply(said).time_limit is None
