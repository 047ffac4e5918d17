"""Schedules: firing one moves it on and inserts its jobs in the same step."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.memory.insert import Inserts


class Schedules(Inserts):
    """The recurring part."""

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Replace by name, keep what is known of the past, and the place in an unchanged recurrence."""
        old = self._schedules.get(schedule.name)
        if old is not None:
            schedule = replace(
                schedule, revision=old.revision + 1, last_at=old.last_at, last_note=old.last_note
            )
            if schedule.recurrence == old.recurrence:
                schedule = replace(schedule, next_at=old.next_at)
            if keep_paused:
                schedule = replace(schedule, paused=old.paused)
        self._schedules[schedule.name] = schedule
        self._wake({""})
        return schedule

    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open one, if it is there."""
        old = self._schedules.get(name)
        if old is None:
            return None
        changed = replace(old, paused=paused, revision=old.revision + 1)
        self._schedules[name] = changed
        self._wake({""})
        return changed

    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; jobs that it made stay."""
        return self._schedules.pop(name, None) is not None

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        now = self._clock.now()
        found = sorted(self._schedules.values(), key=lambda schedule: schedule.name)
        if not due_only:
            return found
        return [s for s in found if not s.paused and s.next_at is not None and s.next_at <= now]

    async def fire(
        self,
        name: str,
        *,
        revision: int,
        expected: datetime,
        next_at: datetime | None,
        note: str | None,
        jobs: Sequence[NewJob],
    ) -> list[Enqueued] | None:
        """Move on and insert, unless somebody else did."""
        schedule = self._schedules.get(name)
        if schedule is None or (schedule.revision, schedule.next_at) != (revision, expected):
            return None
        answers = self._insert(jobs, self._clock.now())
        self._schedules[name] = replace(
            schedule, next_at=next_at, last_at=expected, last_note=firing_note(note, answers)
        )
        return answers
