"""Fire: a schedule moves on and its jobs go in together, once for each occurrence."""

from dataclasses import replace
from datetime import datetime

import msgspec

from cadenza.engine.job import Enqueued, NewJob, Schedule, Unique
from cadenza.engine.testing.conformance.harness import DAY, HOUR, Harness

OCCURRENCE = NewJob(task="greet", schedule="daily")


async def _daily(harness: Harness) -> Schedule:
    now = await harness.store.now()
    return await harness.store.put_schedule(
        Schedule(name="daily", task="greet", recurrence="{}", next_at=now)
    )


async def _fire(
    harness: Harness, schedule: Schedule, *jobs: NewJob, note: str | None = None
) -> list[Enqueued] | None:
    at = schedule.next_at
    assert isinstance(at, datetime)
    return await harness.store.fire(
        schedule.name,
        revision=schedule.revision,
        expected=at,
        next_at=at + DAY,
        note=note,
        jobs=jobs,
    )


class Firing:
    """What `fire` promises."""

    async def test_it_inserts_the_jobs_and_moves_on(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        assert schedule.next_at is not None
        answers = await _fire(harness, schedule, OCCURRENCE, OCCURRENCE)
        assert answers is not None
        assert [answer.outcome for answer in answers] == ["inserted", "inserted"]
        assert [(await harness.job(answer.id)).schedule for answer in answers] == ["daily", "daily"]
        (moved,) = await harness.store.schedules()
        assert (moved.last_at, moved.next_at) == (schedule.next_at, schedule.next_at + DAY)
        assert moved.revision == schedule.revision

    async def test_an_occurrence_is_fired_once(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        assert await _fire(harness, schedule, OCCURRENCE) is not None
        assert await _fire(harness, schedule, OCCURRENCE) is None
        assert [tally.count for tally in await harness.store.tally()] == [1]

    async def test_the_next_occurrence_is_fired_in_its_turn(self, harness: Harness) -> None:
        await _fire(harness, await _daily(harness), OCCURRENCE)
        (moved,) = await harness.store.schedules()
        assert await _fire(harness, moved, OCCURRENCE) is not None

    async def test_an_outdated_revision_fires_nothing(self, harness: Harness) -> None:
        old = await _daily(harness)
        new = await harness.store.put_schedule(old)
        assert new.next_at == old.next_at
        assert await _fire(harness, old, OCCURRENCE) is None
        assert await harness.store.tally() == []
        assert await _fire(harness, new, OCCURRENCE) is not None

    async def test_another_instant_than_the_expected_fires_nothing(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        assert schedule.next_at is not None
        wrong = replace(schedule, next_at=schedule.next_at + HOUR)
        assert await _fire(harness, wrong, OCCURRENCE) is None
        assert (await harness.store.schedules()) == [schedule]

    async def test_a_dropped_schedule_fires_nothing(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        await harness.store.drop_schedule("daily")
        assert await _fire(harness, schedule, OCCURRENCE) is None
        assert await harness.store.tally() == []

    async def test_a_schedule_that_has_ended_stays_ended(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        assert schedule.next_at is not None
        fired = await harness.store.fire(
            "daily",
            revision=schedule.revision,
            expected=schedule.next_at,
            next_at=None,
            note=None,
            jobs=[OCCURRENCE],
        )
        assert fired is not None
        (ended,) = await harness.store.schedules()
        assert ended.next_at is None
        assert await _fire(harness, schedule, OCCURRENCE) is None

    async def test_an_occurrence_without_jobs_still_moves_on(self, harness: Harness) -> None:
        schedule = await _daily(harness)
        assert await _fire(harness, schedule, note="skipped: the last one still runs") == []
        (moved,) = await harness.store.schedules()
        assert moved.last_note is not None
        assert moved.last_note.startswith("skipped: the last one still runs")

    async def test_what_became_of_the_occurrence_is_noted(self, harness: Harness) -> None:
        answers = await _fire(harness, await _daily(harness), OCCURRENCE)
        assert answers is not None
        (moved,) = await harness.store.schedules()
        assert moved.last_note == f"inserted job {answers[0].id}"

    async def test_the_rules_of_fired_jobs_hold(self, harness: Harness) -> None:
        first = await harness.add(rule=Unique("daily"))
        job = msgspec.structs.replace(OCCURRENCE, rule=Unique("daily"))
        answers = await _fire(harness, await _daily(harness), job)
        assert answers is not None
        assert [(answer.outcome, answer.id) for answer in answers] == [("existing", first)]
        (moved,) = await harness.store.schedules()
        assert moved.last_note == f"existing job {first}"
