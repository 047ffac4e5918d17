from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.engine import Engine, State
from cadenza.engine.errors import InvalidJob
from cadenza.engine.loops.recur import LONGEST, Recurrer
from cadenza.engine.meters import Meters
from cadenza.engine.testing.clock import VirtualClock

MIDNIGHT = datetime(2026, 3, 7, tzinfo=UTC)
LEASE = timedelta(seconds=30)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(MIDNIGHT)


@pytest.fixture
async def engine(clock: VirtualClock) -> AsyncIterator[Engine]:
    async with Engine("memory://", clock=clock) as opened:

        @opened.task
        async def report() -> None: ...

        yield opened


async def look(engine: Engine) -> float:
    return await Recurrer(engine.store, meters=Meters()).run_once()


async def due(engine: Engine) -> list[datetime]:
    return [job.run_at for job in reversed(await engine.find(schedule="nightly", limit=1000))]


async def finish_all(engine: Engine) -> None:
    for job in await engine.find(states=(State.WAITING,), limit=1000):
        await engine.cancel(job.id)


async def test_a_schedule_fires_at_its_wall_time_across_the_change_of_clocks(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule(
        "nightly", "report", cron="30 2 * * *", zone="America/New_York", overlap="allow"
    )
    for _ in range(72):
        clock.shift(timedelta(hours=1))
        await look(engine)

    # 02:30 on the 7th, the gap on the 8th (03:30 local), 02:30 summer time on the 9th.
    assert [(i.day, i.hour, i.minute) for i in await due(engine)] == [
        (7, 7, 30),
        (8, 7, 30),
        (9, 6, 30),
    ]


async def test_the_pass_says_when_the_next_occurrence_is(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", every=10, anchor=MIDNIGHT)

    assert await look(engine) == 10
    clock.shift(timedelta(seconds=10))
    assert await look(engine) == 10


async def test_missed_runs_collapse_to_one_and_say_so(engine: Engine, clock: VirtualClock) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *")
    clock.shift(timedelta(days=10, minutes=5))
    await look(engine)

    assert await due(engine) == [MIDNIGHT + timedelta(days=10)]
    (schedule,) = await engine.schedules()
    assert "239 missed (once)" in (schedule.last_note or "")
    assert schedule.next_at == MIDNIGHT + timedelta(days=10, hours=1)


@pytest.mark.parametrize(
    ("missed", "runs"), [("skip", 0), ("once", 1), ("all", 5), ("within:7200", 2)]
)
async def test_the_missed_policy_decides_what_runs_after_downtime(
    engine: Engine, clock: VirtualClock, missed: str, runs: int
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", missed=missed, overlap="allow")
    clock.shift(timedelta(hours=5, minutes=30))
    await look(engine)

    assert len(await due(engine)) == runs


async def test_all_that_was_missed_is_one_run_where_runs_must_not_overlap(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", missed="all", overlap="skip")
    clock.shift(timedelta(hours=3))
    await look(engine)

    (job,) = await engine.find(schedule="nightly")
    (schedule,) = await engine.schedules()
    assert schedule.last_note == (
        f"inserted job {job.id}; existing job {job.id}; existing job {job.id}"
    )


async def test_overlap_skip_leaves_an_occurrence_out_and_says_so(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", overlap="skip")
    for _ in range(2):
        clock.shift(timedelta(hours=1))
        await look(engine)

    assert len(await due(engine)) == 1
    (schedule,) = await engine.schedules()
    assert "existing job" in (schedule.last_note or "")

    await finish_all(engine)
    clock.shift(timedelta(hours=1))
    await look(engine)
    assert len(await due(engine)) == 2


async def test_overlap_buffer_keeps_one_waiting_beside_the_running_one(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", overlap="buffer")
    clock.shift(timedelta(hours=1))
    await look(engine)
    await engine.store.claim("default", limit=1, worker="w", lease=LEASE)
    for _ in range(3):
        clock.shift(timedelta(hours=1))
        await look(engine)

    waiting, running = await engine.find(schedule="nightly")
    assert (running.state, waiting.state) == (State.RUNNING, State.WAITING)
    assert waiting.run_at == MIDNIGHT + timedelta(hours=2), "those after it are dropped"
    (schedule,) = await engine.schedules()
    assert schedule.last_note == f"existing job {waiting.id}"


async def test_overlap_cancel_stops_all_older_runs_however_many(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", missed="all", overlap="cancel")
    clock.shift(timedelta(hours=120))
    await look(engine)
    old = await engine.find(schedule="nightly", limit=1000)
    assert len(old) == 120
    clock.shift(timedelta(hours=1))
    await look(engine)
    (left,) = await engine.find(schedule="nightly", states=(State.WAITING,), limit=1000)
    assert left.id not in {job.id for job in old}


async def test_overlap_cancel_stops_the_older_run(engine: Engine, clock: VirtualClock) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", overlap="cancel")
    clock.shift(timedelta(hours=1))
    await look(engine)
    (old,) = (await engine.store.claim("default", limit=1, worker="w", lease=LEASE)).jobs
    clock.shift(timedelta(hours=1))
    await look(engine)

    assert (await engine.get(old.id)).cancel_requested
    assert len(await due(engine)) == 2


async def test_a_paused_schedule_fires_nothing(engine: Engine, clock: VirtualClock) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *", paused=True)
    clock.shift(timedelta(days=2))
    await look(engine)

    assert await due(engine) == []


async def test_a_schedule_ends_with_its_last_allowed_instant(
    engine: Engine, clock: VirtualClock
) -> None:
    last = MIDNIGHT + timedelta(hours=2)
    await engine.schedule("nightly", "report", cron="0 * * * *", repeat_until=last, overlap="allow")
    for _ in range(5):
        clock.shift(timedelta(hours=1))
        await look(engine)

    assert (await due(engine))[-1] == last
    (schedule,) = await engine.schedules()
    assert schedule.next_at is None


async def test_a_preview_marks_the_runs_that_a_change_of_clocks_moves(engine: Engine) -> None:
    await engine.schedule("nightly", "report", cron="30 2 * * *", zone="America/New_York")

    shown = await engine.preview("nightly", 3)
    assert [(p.wall.day, p.wall.hour, p.mark.value) for p in shown] == [
        (7, 2, "none"),
        (8, 3, "gap"),
        (9, 2, "none"),
    ]


async def test_a_schedule_can_be_paused_and_resumed_by_name(
    engine: Engine, clock: VirtualClock
) -> None:
    await engine.schedule("nightly", "report", cron="0 * * * *")
    await engine.pause_schedule("nightly")
    clock.shift(timedelta(hours=3))
    await look(engine)
    assert await due(engine) == []

    await engine.resume_schedule("nightly")
    await look(engine)
    assert await due(engine) == [MIDNIGHT + timedelta(hours=3)]


@pytest.mark.parametrize("missed", ["within:abc", "within:", "within:-1", "within:nan", "never"])
async def test_a_missed_policy_that_says_nothing_is_refused(engine: Engine, missed: str) -> None:
    with pytest.raises(InvalidJob, match="missed"):
        await engine.schedule("nightly", "report", cron="0 * * * *", missed=missed)
    assert await engine.schedules() == []


async def test_a_schedule_that_cannot_fire_stops_none_behind_it(
    engine: Engine, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await engine.schedule("a broken one", "report", cron="0 * * * *")
    (broken,) = await engine.schedules()
    gone = broken.recurrence.replace('"UTC"', '"Atlantis/Poseidonis"')
    await engine.store.put_schedule(replace(broken, recurrence=gone))
    await engine.schedule("nightly", "report", cron="0 * * * *", overlap="allow")
    recurrer = Recurrer(engine.store, meters=Meters())
    for _ in range(3):
        clock.shift(timedelta(hours=1))
        assert await recurrer.run_once() == LONGEST, "no hot loop for one that stands still"

    assert len(await due(engine)) == 3
    told = [record for record in caplog.records if "a broken one" in record.getMessage()]
    assert len(told) == 1

    await engine.schedule("a broken one", "report", cron="0 * * * *")
    clock.shift(timedelta(hours=1))
    await recurrer.run_once()
    assert await engine.find(schedule="a broken one")


async def test_a_schedule_may_speak_the_cron_of_mongodb_cron(engine: Engine) -> None:
    await engine.schedule("nightly", "report", cron="0 0 15 * 1-7", dialect="mongodb-cron")
    assert [each.wall.day for each in await engine.preview("nightly", 3)] == [15, 15, 15]
    with pytest.raises(InvalidJob, match="dialect"):
        await engine.schedule("nightly", "report", cron="0 0 * * *", dialect="klingon")


async def test_a_schedule_may_begin_later(engine: Engine) -> None:
    begin = MIDNIGHT + timedelta(hours=5)
    made = await engine.schedule("nightly", "report", cron="0 * * * *", after=begin)
    assert made.next_at == begin + timedelta(hours=1)
    assert (await engine.preview("nightly", 1))[0].instant == made.next_at
