"""Looking at jobs, and changing what a person asks to be changed; the reference walks all its rows."""

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta

from cadenza.engine.job import Filter, Job, State, Tally
from cadenza.engine.notes import cancel_note
from cadenza.engine.store import Changed
from cadenza.engine.stores.memory.rows import Row, fits
from cadenza.engine.stores.memory.tables import Tables


class Inspections(Tables):
    """The view of people."""

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Show these jobs."""
        return [self._show(self._rows[id_]) for id_ in ids if id_ in self._rows]

    async def find(self, wanted: Filter) -> list[Job]:
        """List by walking all; the reference is not in a hurry."""
        rows = sorted(self._rows.values(), key=lambda row: -row.id)
        found = (row for row in rows if fits(row, wanted))
        return [self._show(row) for row in itertools.islice(found, wanted.limit)]

    def _show(self, row: Row) -> Job:
        held = self._leases.get(row.lease) if row.state is State.RUNNING else None
        return Job(
            id=row.id,
            queue=row.new.queue,
            task=row.new.task,
            state=row.state,
            payload=row.payload,
            priority=row.new.priority,
            created_at=row.created_at,
            run_at=row.run_at,
            attempts=row.attempts,
            crashes=row.crashes,
            snoozes=row.snoozes,
            lane=row.new.lane,
            unique_key=row.unique_key,
            tags=row.new.tags,
            options=row.new.options,
            schedule=row.new.schedule,
            lease=row.lease,
            lease_until=held.until if held else None,
            worker=held.worker if held else None,
            cancel_requested=row.cancel_requested,
            progress=row.progress,
            output=row.output,
            errors=row.errors,
            finished_at=row.finished_at,
        )

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        counts: dict[tuple[str, State], int] = {}
        for row in self._rows.values():
            key = (row.new.queue, row.state)
            counts[key] = counts.get(key, 0) + 1
        return [Tally(queue, state, count) for (queue, state), count in sorted(counts.items())]

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs at once, ask for running ones."""
        now = self._clock.now()
        return [self._cancel_one(id_, reason, now) for id_ in ids]

    def _cancel_one(self, id_: int, reason: str, now: datetime) -> Changed:
        row = self._rows.get(id_)
        if row is None:
            return "unknown"
        if row.state is State.RUNNING:
            if not row.cancel_requested:
                row.cancel_requested = True
                row.errors = (*row.errors, cancel_note(reason, now))
            self._wake({""})
            return "requested"
        if row.state is not State.WAITING:
            return "unchanged"
        row.errors = (*row.errors, cancel_note(reason, now))
        self._finish(row, State.CANCELED, now)
        return "changed"

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait again and waiting ones go now."""
        now = self._clock.now()
        answers: list[Changed] = [self._revive_one(id_, now) for id_ in ids]
        self._wake({self._rows[id_].new.queue for id_ in ids if id_ in self._rows})
        return answers

    def _revive_one(self, id_: int, now: datetime) -> Changed:
        row = self._rows.get(id_)
        if row is None:
            return "unknown"
        if row.state is State.RUNNING:
            return "unchanged"
        if row.state.finished:
            row.state, row.finished_at, row.output = State.WAITING, None, None
            row.attempts = row.crashes = row.snoozes = 0
            row.cancel_requested, row.unique_key = False, None
        row.run_at = min(row.run_at, now)
        self._stand(row)
        return "changed"

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        row = self._running(id, lease)
        if row is None:
            return False
        row.progress = progress
        return True

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Forget what finished long ago."""
        now = self._clock.now()
        old = [
            row.id
            for row in self._rows.values()
            if row.finished_at is not None
            and now - row.finished_at > (failed if row.state is State.FAILED else done)
        ][:limit]
        for id_ in old:
            del self._rows[id_]
        self._throttled = {key: mark for key, mark in self._throttled.items() if mark[0] > now}
        self._paced = {key: free for key, free in self._paced.items() if free > now}
        return len(old)
