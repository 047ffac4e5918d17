"""The SQLite store and the reference do the same to the same: random lives of a few jobs.

Every step is done to both stores at one virtual instant, and all that they show is compared. Lease
numbers may differ, so they are compared by which claim they came from.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.engine.job import (
    Debounce,
    Filter,
    Job,
    Limit,
    NewJob,
    Pace,
    Rate,
    Scope,
    Throttle,
    Unique,
    While,
)
from cadenza.engine.outcomes import Park, Settlement, Verdict
from cadenza.engine.store import Batch, Store
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.engine.testing.clock import VirtualClock

pytestmark = pytest.mark.slow

Step = Callable[["Pair"], Awaitable[None]]
LEASE = timedelta(seconds=30)

seconds = st.sampled_from([0, 1, 10, 30, 60]).map(lambda number: timedelta(seconds=number))
queues = st.sampled_from(["mail", "mail", "mail", "post"])
lanes = st.sampled_from([None, None, None, "ada", "ada", "ben"])
keys = st.just("k")
limits = st.none() | st.builds(
    Limit,
    concurrency=st.none() | st.integers(1, 3),
    rate=st.none()
    | st.builds(Rate, st.integers(1, 3), st.just(timedelta(seconds=30)), st.integers(1, 2)),
)
rules = (
    st.none()
    | st.none()
    | st.none()
    | st.builds(Unique, keys, st.sampled_from(While))
    | st.builds(Throttle, keys, seconds)
    | st.builds(Debounce, keys, seconds, st.none() | seconds)
    | st.builds(Pace, keys, seconds)
)
jobs = st.builds(
    NewJob,
    task=st.just("greet"),
    payload=st.sampled_from(["{}", '{"to": "Ada – \\u2600 \\"quoted\\""}']),
    queue=queues,
    priority=st.integers(-1, 1),
    delay=st.none() | seconds,
    lane=lanes,
    limit=limits,
    rule=rules,
    tags=st.sampled_from([(), ("spring", "sale")]),
)
scopes = st.builds(Scope, queues, lanes)


class Pair:
    """Two stores in step."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.memory = MemoryStore(clock=self.clock)
        self.sqlite = SqliteStore(":memory:", clock=self.clock)
        self.claims: list[tuple[Batch, Batch]] = []

    async def both(self, act: Callable[[Store], Awaitable[Any]]) -> tuple[Any, Any]:
        return await act(self.memory), await act(self.sqlite)

    async def alike(self, act: Callable[[Store], Awaitable[Any]]) -> Any:
        wanted, seen = await self.both(act)
        assert seen == wanted
        return wanted

    def _name_leases(self, found: list[Job], side: int) -> list[Job]:
        names = {pair[side].lease: number for number, pair in enumerate(self.claims, start=1)}
        return [replace(job, lease=names.get(job.lease, 0)) for job in found]

    async def compare(self) -> None:
        wanted, seen = await self.both(lambda store: store.find(Filter(limit=1000)))
        assert self._name_leases(seen, 1) == self._name_leases(wanted, 0)
        await self.alike(lambda store: store.gates())
        await self.alike(lambda store: store.tally())
        for queue in ("mail", "post"):
            await self.alike(lambda store, queue=queue: store.next_due(queue))


def insert(new: list[NewJob]) -> Step:
    async def step(pair: Pair) -> None:
        await pair.alike(lambda store: store.insert(new))

    return step


def take(queue: str, limit: int, *, alone: bool) -> Step:
    async def step(pair: Pair) -> None:
        wanted, seen = await pair.both(
            lambda store: store.claim(queue, limit=limit, worker="ada", lease=LEASE, alone=alone)
        )
        pair.claims.append((wanted, seen))
        for job in seen.jobs:
            job.lease = wanted.lease
        assert seen.jobs == wanted.jobs
        assert (seen.next_due, seen.crashed) == (wanted.next_due, wanted.crashed)

    return step


def settle(which: int, verdicts: list[Verdict], fields: dict[str, Any]) -> Step:
    async def step(pair: Pair) -> None:
        if not pair.claims:
            return
        claims = pair.claims[which % len(pair.claims)]
        refused: list[list[int]] = []
        for store, batch in zip((pair.memory, pair.sqlite), claims, strict=True):
            settlements = [
                Settlement(job.id, batch.lease, verdict, **fields)
                for job, verdict in zip(batch.jobs, verdicts, strict=False)
            ]
            closed = [batch.lease] if len(settlements) == len(batch.jobs) else []
            answer = await store.settle(settlements, closed=closed)
            refused.append(sorted(settlement.id for settlement in answer))
        assert refused[1] == refused[0]

    return step


def renew(which: int) -> Step:
    async def step(pair: Pair) -> None:
        if not pair.claims:
            return
        first, second = pair.claims[which % len(pair.claims)]
        wanted = await pair.memory.renew("ada", [first.lease], lease=LEASE)
        seen = await pair.sqlite.renew("ada", [second.lease], lease=LEASE)
        assert (len(seen.lost), seen.cancel) == (len(wanted.lost), wanted.cancel)

    return step


def shift(by: timedelta) -> Step:
    async def step(pair: Pair) -> None:
        pair.clock.shift(by)

    return step


def rescue(crash_limit: int) -> Step:
    async def step(pair: Pair) -> None:
        await pair.alike(lambda store: store.rescue(crash_limit=crash_limit))

    return step


def change(name: str, ids: list[int]) -> Step:
    async def step(pair: Pair) -> None:
        if name == "cancel":
            await pair.alike(lambda store: store.cancel(ids, reason="not wanted"))
        else:
            await pair.alike(lambda store: store.revive(ids))

    return step


def set_gate(scope: Scope, fields: dict[str, Any]) -> Step:
    async def step(pair: Pair) -> None:
        await pair.alike(lambda store: store.set_gate(scope, **fields))

    return step


def prune(age: timedelta) -> Step:
    async def step(pair: Pair) -> None:
        await pair.alike(lambda store: store.prune(done=age, failed=2 * age, limit=1000))

    return step


outcomes = st.fixed_dictionaries(
    {},
    optional={
        "delay": seconds,
        "error": st.just('{"kind": "Flaky"}'),
        "output": st.just('{"n": 1}'),
        "keep": st.booleans(),
        "park": st.builds(Park, scopes, seconds),
    },
)
steps = st.one_of(
    st.builds(insert, st.lists(jobs, min_size=2, max_size=6)),
    st.builds(insert, st.lists(jobs, min_size=2, max_size=6)),
    st.builds(insert, st.lists(jobs, min_size=2, max_size=6)),
    st.builds(take, queues, st.integers(1, 5), alone=st.sampled_from([False, False, True])),
    st.builds(take, queues, st.integers(1, 5), alone=st.just(value=False)),
    st.builds(take, queues, st.integers(1, 3), alone=st.just(value=False)),
    st.builds(settle, st.integers(0, 9), st.lists(st.sampled_from(Verdict), max_size=5), outcomes),
    st.builds(settle, st.integers(0, 9), st.just([Verdict.DONE] * 5), st.just({})),
    st.builds(settle, st.just(-1), st.just([Verdict.DONE] * 5), st.just({})),
    st.builds(shift, seconds),
    st.builds(rescue, st.integers(1, 3)),
    st.builds(renew, st.integers(0, 9)),
    st.builds(
        change, st.sampled_from(["cancel", "revive"]), st.lists(st.integers(1, 12), max_size=3)
    ),
    st.builds(
        set_gate,
        scopes,
        st.fixed_dictionaries(
            {}, optional={"paused": st.booleans(), "limit": limits, "park": seconds}
        ),
    ),
    st.builds(prune, seconds),
)


@given(st.lists(steps, min_size=15, max_size=50))
def test_two_stores_that_live_the_same_life_show_the_same(life: list[Step]) -> None:
    async def live() -> None:
        pair = Pair()
        await pair.sqlite.open()
        try:
            for step in life:
                await step(pair)
                await pair.compare()
        finally:
            await pair.sqlite.close()

    asyncio.run(live())
