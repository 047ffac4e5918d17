"""Taking jobs in: rules on keys are obeyed one job after the other, at one instant."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from cadenza.engine.job import (
    Debounce,
    Enqueued,
    Gate,
    NewJob,
    Pace,
    Scope,
    State,
    Throttle,
    Unique,
    While,
)
from cadenza.engine.stores.memory.rows import Row
from cadenza.engine.stores.memory.tables import Tables


class Inserts(Tables):
    """The way in."""

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs one after the other at one instant."""
        now = self._clock.now()
        return self._insert(jobs, now)

    def _insert(self, jobs: Sequence[NewJob], now: datetime) -> list[Enqueued]:
        answers = [self._insert_one(job, now) for job in jobs]
        self._wake({job.queue for job in jobs})
        return answers

    def _insert_one(self, job: NewJob, now: datetime) -> Enqueued:
        run_at = job.run_at or now + (job.delay or timedelta())
        match job.rule:
            case Unique(key):
                if (taken := self._unique.get(key)) is not None:
                    return Enqueued("existing", taken, self._rows[taken].run_at)
            case Throttle(key):
                until, first = self._throttled.get(key, (now, 0))
                if until > now:
                    return Enqueued("throttled", first, until=until)
            case Debounce(key, wait, max_wait):
                run_at = now + (wait if max_wait is None else min(wait, max_wait))
                if (taken := self._unique.get(key)) is not None:
                    return self._push_back(self._rows[taken], job, run_at)
            case Pace(key, step):
                run_at = max(self._paced.get(key, run_at), run_at)
                self._paced[key] = run_at + step
            case None:
                pass
        row = Row(next(self._ids), job, State.WAITING, now, run_at, job.payload)
        self._rows[row.id] = row
        self._take_key(row, now)
        if job.lane is not None:
            self._open_lane(job)
        self._stand(row)
        return Enqueued("inserted", row.id, run_at)

    def _push_back(self, row: Row, job: NewJob, run_at: datetime) -> Enqueued:
        """Let the newest of a debounced key win, but not wait for ever."""
        if row.state is State.RUNNING:  # a unique job of that key, in a worker's hands
            return Enqueued("existing", row.id, row.run_at)
        rule = job.rule
        if isinstance(rule, Debounce) and rule.max_wait is not None:
            run_at = min(run_at, row.created_at + rule.max_wait)
        row.payload, row.run_at = job.payload, run_at
        self._stand(row)
        return Enqueued("debounced", row.id, run_at)

    def _take_key(self, row: Row, now: datetime) -> None:
        match row.new.rule:
            case Unique(key, while_):
                row.unique_key, row.unique_while = key, while_
                self._unique[key] = row.id
            case Debounce(key):
                row.unique_key, row.unique_while = key, While.QUEUED
                self._unique[key] = row.id
            case Throttle(key, period):
                self._throttled[key] = (now + period, row.id)
            case _:
                pass

    def _open_lane(self, job: NewJob) -> None:
        scope = Scope(job.queue, job.lane)
        self._lanes.setdefault(job.queue, {}).setdefault(job.lane or "", None)
        gate = self._gates.get(scope, Gate(scope))
        self._gates[scope] = replace(gate, limit=job.limit) if job.limit else gate
