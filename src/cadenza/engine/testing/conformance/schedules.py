"""Schedules: kept by name, replaced with a higher revision, listed when due."""

from dataclasses import replace

import pytest

from cadenza.engine.job import NewJob, Schedule
from cadenza.engine.testing.conformance.harness import HOUR, Harness

DAILY = Schedule(name="daily", task="greet", recurrence='{"every": 86400}')


class Schedules:
    """What `put_schedule`, `set_schedule`, `drop_schedule` and `schedules` promise."""

    async def test_a_schedule_is_kept_as_it_was_put(self, harness: Harness) -> None:
        now = await harness.store.now()
        schedule = Schedule(
            name="daily",
            task="greet",
            recurrence='{"cron":"0 9 * * *"}',
            payload='{"to":"Ada"}',
            queue="mail",
            priority=-2,
            lane="ben",
            options='{"retries":3}',
            overlap="allow",
            missed="skip",
            paused=True,
            next_at=now + HOUR,
        )
        assert await harness.store.put_schedule(schedule) == schedule
        assert await harness.store.schedules() == [schedule]

    async def test_a_schedule_is_replaced_by_name_and_its_revision_rises(
        self, harness: Harness
    ) -> None:
        first = await harness.store.put_schedule(DAILY)
        second = await harness.store.put_schedule(
            Schedule(name="daily", task="post", recurrence='{"every": 60}', revision=first.revision)
        )
        assert second.revision > first.revision
        (kept,) = await harness.store.schedules()
        assert (kept.task, kept.revision) == ("post", second.revision)

    async def test_a_replaced_schedule_keeps_what_is_known_of_its_past(
        self, harness: Harness
    ) -> None:
        now = await harness.store.now()
        put = await harness.store.put_schedule(
            Schedule(name="daily", task="greet", recurrence="{}", next_at=now)
        )
        await harness.store.fire(
            "daily",
            revision=put.revision,
            expected=now,
            next_at=now + HOUR,
            note=None,
            jobs=[NewJob(task="greet")],
        )
        (before,) = await harness.store.schedules()
        after = await harness.store.put_schedule(replace(DAILY, recurrence='{"every":60}'))
        assert (after.last_at, after.last_note) == (before.last_at, before.last_note)
        assert after.last_at == now
        assert after.next_at is None

    async def test_an_unchanged_recurrence_keeps_its_place_so_that_nothing_fires_twice(
        self, harness: Harness
    ) -> None:
        now = await harness.store.now()
        read = await harness.store.put_schedule(
            Schedule(name="daily", task="greet", recurrence="{}", next_at=now)
        )
        await harness.store.fire(
            "daily", revision=read.revision, expected=now, next_at=now + HOUR, note=None, jobs=[]
        )
        paused = await harness.store.put_schedule(replace(read, paused=True))
        assert (paused.paused, paused.next_at) == (True, now + HOUR)

    @pytest.mark.parametrize("paused", [True, False])
    async def test_a_pause_changes_nothing_else_of_a_schedule(
        self, harness: Harness, *, paused: bool
    ) -> None:
        now = await harness.store.now()
        put = await harness.store.put_schedule(
            replace(DAILY, payload='{"to":"Ada"}', next_at=now, paused=not paused)
        )
        changed = await harness.store.set_schedule("daily", paused=paused)
        assert changed == replace(put, paused=paused, revision=put.revision + 1)
        assert await harness.store.schedules() == [changed]
        due = await harness.store.schedules(due_only=True)
        assert due == ([] if paused else [changed])

    async def test_a_pause_beats_the_scheduler_that_read_before(self, harness: Harness) -> None:
        now = await harness.store.now()
        read = await harness.store.put_schedule(replace(DAILY, next_at=now))
        await harness.store.set_schedule("daily", paused=True)
        fired = await harness.store.fire(
            "daily", revision=read.revision, expected=now, next_at=None, note=None, jobs=[]
        )
        assert fired is None

    async def test_a_pause_brings_no_dropped_schedule_back(self, harness: Harness) -> None:
        await harness.store.put_schedule(DAILY)
        await harness.store.drop_schedule("daily")
        assert await harness.store.set_schedule("daily", paused=True) is None
        assert await harness.store.schedules() == []

    @pytest.mark.parametrize("queue", ["default", "mail"])
    @pytest.mark.parametrize("paused", [True, False])
    async def test_one_put_from_before_a_pause_can_leave_the_pause_as_it_stands(
        self, harness: Harness, *, paused: bool, queue: str
    ) -> None:
        now = await harness.store.now()
        read = await harness.store.put_schedule(replace(DAILY, paused=not paused))
        await harness.store.set_schedule("daily", paused=paused)
        new = replace(read, recurrence='{"every":60}', queue=queue, next_at=now)
        kept = await harness.store.put_schedule(new, keep_paused=True)
        assert kept == replace(new, paused=paused, revision=read.revision + 2)
        assert await harness.store.schedules() == [kept]
        due = await harness.store.schedules(due_only=True)
        assert due == ([] if paused else [kept])
        said = await harness.store.put_schedule(replace(kept, paused=not paused))
        assert said.paused is not paused

    async def test_a_new_schedule_has_no_pause_to_leave(self, harness: Harness) -> None:
        new = await harness.store.put_schedule(replace(DAILY, paused=True), keep_paused=True)
        assert new.paused

    async def test_schedules_are_listed_by_name(self, harness: Harness) -> None:
        for name in ("cy", "ada", "ben"):
            await harness.store.put_schedule(Schedule(name=name, task="greet", recurrence="{}"))
        assert [schedule.name for schedule in await harness.store.schedules()] == [
            "ada",
            "ben",
            "cy",
        ]

    async def test_only_due_open_schedules_are_due(self, harness: Harness) -> None:
        now = await harness.store.now()
        for name, next_at, paused in [
            ("past", now - HOUR, False),
            ("now", now, False),
            ("future", now + HOUR, False),
            ("ended", None, False),
            ("paused", now - HOUR, True),
        ]:
            await harness.store.put_schedule(
                Schedule(name=name, task="greet", recurrence="{}", next_at=next_at, paused=paused)
            )
        assert [s.name for s in await harness.store.schedules(due_only=True)] == ["now", "past"]
        await harness.shift(HOUR)
        assert [s.name for s in await harness.store.schedules(due_only=True)] == [
            "future",
            "now",
            "past",
        ]

    async def test_a_dropped_schedule_is_gone(self, harness: Harness) -> None:
        await harness.store.put_schedule(DAILY)
        assert await harness.store.drop_schedule("daily") is True
        assert await harness.store.schedules() == []

    @pytest.mark.parametrize("name", ["daily", ""])
    async def test_dropping_what_is_not_there_says_so(self, harness: Harness, name: str) -> None:
        assert await harness.store.drop_schedule(name) is False
