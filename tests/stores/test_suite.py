"""The conformance suite itself: no claim is lost on the way to a store, and faults are found."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cadenza.engine.job import Enqueued, NewJob, Pace, Schedule, State
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Renewal
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.stores.memory.rows import Row
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.conformance import Conformance, Harness
from cadenza.engine.testing.conformance.comparison import Comparison
from cadenza.engine.testing.conformance.operations import Step, plays


def test_no_two_parts_of_the_suite_share_the_name_of_a_claim() -> None:
    names = Counter(
        name for part in Conformance.__mro__ for name in vars(part) if name.startswith("test_")
    )
    assert [name for name, count in names.items() if count > 1] == []


class Unfenced(MemoryStore):
    """Lets a stale worker settle."""

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        for settlement in settlements:
            if row := self._rows.get(settlement.id):
                settlement.lease = row.lease
        return await super().settle(settlements, closed=closed)


class Forgetful(MemoryStore):
    """Counts no crash."""

    def _take_back(self, row: Row, crash_limit: int, now: datetime, *, crashed: bool) -> bool:
        return super()._take_back(row, crash_limit, now, crashed=False)


class Blaming(MemoryStore):
    """Counts a crash of what was only claimed."""

    def _take_back(self, row: Row, crash_limit: int, now: datetime, *, crashed: bool) -> bool:
        return super()._take_back(row, crash_limit, now, crashed=True)


class Stingy(MemoryStore):
    """Never frees a unique key."""

    def _free_key(self, row: Row) -> None:
        """Keep it."""


class Hurried(MemoryStore):
    """Hands out crashed jobs among others."""

    async def rescue(self, *, crash_limit: int) -> Any:
        rescue = await super().rescue(crash_limit=crash_limit)
        for line in self._lines.values():
            self._promote(line, self._clock.now())
            line.ready += line.crashed
            line.crashed.clear()
            line.ready.sort()
        return rescue


class Leaky(MemoryStore):
    """Gives no place back when a job fails."""

    def _leave(self, row: Row) -> None:
        gates = dict(self._gates)
        super()._leave(row)
        if row.attempts:
            self._gates = gates


class Careless(MemoryStore):
    """Renews leases of others."""

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        for held in self._leases.values():
            held.worker = worker
        return await super().renew(worker, leases, lease=lease)


class Unpaced(MemoryStore):
    """Gives every paced job the same instant."""

    def _insert_one(self, job: NewJob, now: datetime) -> Enqueued:
        if isinstance(job.rule, Pace):
            self._paced.clear()
        return super()._insert_one(job, now)


class Twofold(MemoryStore):
    """Fires an occurrence of any revision."""

    async def fire(self, name: str, *, revision: int, **rest: Any) -> list[Enqueued] | None:
        known = self._schedules.get(name)
        return await super().fire(name, revision=known.revision if known else revision, **rest)


class Overbearing(MemoryStore):
    """Puts a schedule over a pause."""

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        return await super().put_schedule(schedule)


class Disorderly(MemoryStore):
    """Hands out the last of a line first."""

    def _take(self, *args: Any, **options: Any) -> list[Row]:
        return super()._take(*args, **options)[::-1]


class Deaf(MemoryStore):
    """Forgets that a running job was to be canceled."""

    async def claim(self, *args: Any, **options: Any) -> Batch:
        for row in self._rows.values():
            row.cancel_requested = row.cancel_requested and row.state is not State.RUNNING
        return await super().claim(*args, **options)


FAULTY = [
    *(
        Unfenced,
        Forgetful,
        Blaming,
        Stingy,
        Hurried,
        Leaky,
        Careless,
        Unpaced,
        Twofold,
        Overbearing,
    ),
    *(Disorderly, Deaf),
]


@pytest.mark.parametrize("faulty", FAULTY)
def test_the_differential_run_finds_a_faulty_store(faulty: type[MemoryStore]) -> None:
    async def play(played: list[Step]) -> None:
        clock = VirtualClock()
        comparison = await Comparison.begin(Harness(faulty(clock=clock), clock.shift))
        for step in played:
            await comparison.play(step)
            await comparison.compare()

    @settings(
        max_examples=1000,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(plays())
    def run(played: list[Step]) -> None:
        asyncio.run(play(played))

    with pytest.raises((AssertionError, KeyError)):  # it may also trip over its own fault
        run()
