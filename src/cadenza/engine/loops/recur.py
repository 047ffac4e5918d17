"""Fires due schedules, each occurrence exactly once over any number of machines.

Every worker runs it; the store lets one of them move a schedule on. With overlap `cancel` the run
before is asked to stop after the new one was inserted. A schedule that cannot fire (its zone is
gone) stands still, is told of once, and stops none of the others; `doctor` shows it.
"""

import logging
from dataclasses import replace
from datetime import datetime

from cadenza.core.recurrence import Overlap
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Filter, Schedule, State
from cadenza.engine.meters import Meters
from cadenza.engine.recurring import decide
from cadenza.engine.store import Store

log = logging.getLogger("cadenza.engine")

PAGE = 500  # older runs that are asked to stop at a time
LONGEST = 30.0  # seconds between looks, however far the next occurrence is


class Recurrer:
    """One pass over schedules."""

    def __init__(self, store: Store, *, meters: Meters) -> None:
        self._store = store
        self._meters = meters
        self._stuck: dict[str, int] = {}  # by name, the revision that could not fire

    async def run_once(self) -> float:
        """Fire what is due; say when the next one is."""
        now = await self._store.now()
        for schedule in await self._store.schedules(due_only=True):
            await self._try(schedule, now)
        coming = [
            s.next_at
            for s in await self._store.schedules()
            if s.next_at and not s.paused and self._stuck.get(s.name) != s.revision
        ]
        if not coming:
            return LONGEST
        return min(max((min(coming) - now).total_seconds(), 0.0), LONGEST)

    async def _try(self, schedule: Schedule, now: datetime) -> None:
        try:
            await self._fire(schedule, now)
        except StoreUnavailable:
            raise
        except Exception:
            if self._stuck.get(schedule.name) != schedule.revision:
                log.exception("schedule %s cannot fire, and stands still", schedule.name)
            self._stuck[schedule.name] = schedule.revision
        else:
            self._stuck.pop(schedule.name, None)

    async def _fire(self, schedule: Schedule, now: datetime) -> None:
        if schedule.next_at is None:
            return
        firing = decide(schedule, now)
        answers = await self._store.fire(
            schedule.name,
            revision=schedule.revision,
            expected=schedule.next_at,
            next_at=firing.next_at,
            note=firing.note,
            jobs=firing.jobs,
        )
        if answers is None:  # another machine was first
            return
        self._meters.fired += len(answers)
        if firing.note:
            log.warning("schedule %s: %s", schedule.name, firing.note)
        if schedule.overlap == Overlap.CANCEL and answers:
            await self._stop_older(schedule, {answer.id for answer in answers})

    async def _stop_older(self, schedule: Schedule, newest: set[int]) -> None:
        states = (State.WAITING, State.RUNNING)
        wanted = Filter(schedule=schedule.name, states=states, limit=PAGE)
        while live := [job.id for job in await self._store.find(wanted)]:
            older = [id_ for id_ in live if id_ not in newest]
            if older:
                reason = f"the next occurrence of {schedule.name} began"
                await self._store.cancel(older, reason=reason)
            wanted = replace(wanted, before=min(live))
