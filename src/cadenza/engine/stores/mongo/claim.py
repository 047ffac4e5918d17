"""Handing jobs out: look, reserve at the gates, take, and read what was really taken.

Looking costs what can run: plain jobs and each lane are read from the head of an index, whole, so
that most need not be read again. Taking is one update of all candidates that still wait, under a
lease written before it, so that whatever is cut off comes back when the lease runs out. What is
seldom there, lanes and crashed jobs, is looked for seldom while plain jobs stream. Limit: the lanes
with due jobs are listed by a `distinct`, which costs what is due in lanes.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import cadenza.engine.stores.mongo.gate as gates
from cadenza.engine.gates import opens_at, room
from cadenza.engine.job import Claimed, Gate, Scope, State, While
from cadenza.engine.store import ISOLATED, Batch
from cadenza.engine.stores.mongo.connection import MongoConnection
from cadenza.engine.stores.mongo.documents import (
    ORDINARY,
    Paper,
    among,
    gate_id,
    read_claimed,
    read_gate,
)
from cadenza.engine.stores.mongo.quick import QuickClaims

TRIES = 5  # claims that others were quicker at
SELDOM = (
    0.25  # seconds in which large batches of plain jobs let nobody look for lanes and crashed jobs
)
LARGE = 100  # jobs
_ORDER = [("priority", 1), ("run_at", 1), ("_id", 1)]
_LOOK = {"errors": 0, "output": 0}  # what may be long and is nothing to a worker


class Claims:
    """Hands out the jobs of queues."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._quick = QuickClaims(connection)
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room
        self._plain_until: dict[str, float] = {}  # monotonic; queues that held plain jobs alone

    async def claim(
        self,
        queue: str,
        *,
        limit: int,
        worker: str,
        lease: timedelta,
        alone: bool,
        started: bool,
    ) -> Batch:
        """Lease runnable jobs, as many as the gates let through."""
        first = None
        if started and not alone:
            first = await self._quick.claim(queue, worker, lease, limit=limit)
        if first is not None and first.drained:
            return first
        wanted = 1 if alone else limit - (0 if first is None else len(first.jobs))
        streaming = self._connection.clock.monotonic() < self._plain_until.get(queue, 0.0)
        for _ in range(TRIES):
            now = await self._connection.now()
            chosen, gated = await self._choose(
                queue, wanted, now, alone=alone, lanes=alone or not streaming
            )
            if not chosen:
                break
            scopes = [Scope(queue), *dict.fromkeys(Scope(queue, p["lane"]) for p in chosen)]
            number = await self._write_lease(
                first, queue, scopes, worker=worker, until=now + lease, started=started
            )
            jobs = await self._take(queue, chosen, number, now, alone=alone, gated=gated)
            if jobs or first is not None:
                self._lanes_next ^= {queue}
                jobs = jobs if first is None else [*first.jobs, *jobs]
                full = len(jobs) == limit >= LARGE
                if full and streaming:
                    return Batch(number, jobs)
                crashed = await self.has_crashed(queue, now)
                if full and not crashed and all(job.lane is None for job in jobs):
                    self._plain_until[queue] = self._connection.clock.monotonic() + SELDOM
                return Batch(number, jobs, crashed=crashed)
            await self._connection.leases.delete_one({"_id": number})
            streaming = False
        now = await self._connection.now()
        due, crashed = await asyncio.gather(self.next_due(queue, now), self.has_crashed(queue, now))
        batch = first or Batch(0, [])
        batch.next_due, batch.crashed, batch.drained = due, crashed, due is None or due > now
        return self._quick.found_empty(queue, worker, batch, now)

    async def _write_lease(
        self,
        first: Batch | None,
        queue: str,
        scopes: Sequence[Scope],
        *,
        worker: str,
        until: datetime,
        started: bool,
    ) -> int:
        """Write the lease under which jobs are taken; a quick claim's goes on."""
        names = [gate_id(scope) for scope in dict.fromkeys(scopes)]
        if first is not None:
            change = {"$set": {"scopes": names, "until": until}}
            await self._connection.leases.update_one({"_id": first.lease}, change)
            return first.lease
        number = await self._connection.number("lease")
        lease = {"_id": number, "worker": worker, "until": until, "queue": queue, "scopes": names}
        await self._connection.leases.insert_one(lease if started else {**lease, "started": []})
        return number

    def invalidate(self) -> None:
        """Something else than an insert has changed what can run, and when."""
        self._plain_until.clear()
        self._quick.invalidate()

    async def close(self) -> None:
        """Let writes that are under way come to their end."""
        await self._quick.close()

    # Looking

    async def _choose(
        self, queue: str, limit: int, now: datetime, *, alone: bool, lanes: bool
    ) -> tuple[list[Paper], bool]:
        """Take for lanes half of the room first, then plain jobs, then lanes again.

        Say also whether the queue has a gate. Without `lanes` a full batch of plain jobs will do.
        """
        runnable = _runnable(queue, now, alone=alone)
        whole, plain, named = await asyncio.gather(
            gates.read(self._connection, [Scope(queue)]),
            self._head({**runnable, "lane": None}, limit),
            self._lanes(runnable) if lanes else _none(),
        )
        if not lanes and len(plain) < limit:
            named = await self._lanes(runnable)
        allowed, gated = limit, Scope(queue) in whole
        if gated:
            allowed = room(read_gate(whole[Scope(queue)]), now, limit)
        if allowed == 0:
            return [], gated
        laned = await self._look_in_lanes(queue, runnable, named, allowed, now) if named else []
        half = (allowed + (queue in self._lanes_next)) // 2
        plain = plain[: allowed - min(half, len(laned))]
        return [*laned[: allowed - len(plain)], *plain], gated

    async def _head(self, wanted: Paper, limit: int) -> list[Paper]:
        if limit <= 0:
            return []
        return await self._connection.jobs.find(wanted, _LOOK).sort(_ORDER).limit(limit).to_list()

    async def _lanes(self, runnable: Paper) -> list[str]:
        return await self._connection.jobs.distinct("lane", {**runnable, "lane": {"$ne": None}})

    async def _look_in_lanes(
        self, queue: str, runnable: Paper, lanes: Sequence[str], allowed: int, now: datetime
    ) -> list[Paper]:
        """Look at lanes that have room, those served longest ago first."""
        found = await gates.read(self._connection, [Scope(queue, lane) for lane in lanes])
        turns = sorted(found.items(), key=lambda item: (item[1]["turn"], item[1]["_id"]))
        taken: list[Paper] = []
        for scope, paper in turns:
            if len(taken) >= allowed:
                break
            wanted = room(read_gate(paper), now, allowed - len(taken))
            taken += await self._head({**runnable, "lane": scope.lane}, wanted)
        return taken

    # Taking

    async def _take(
        self,
        queue: str,
        chosen: list[Paper],
        number: int,
        now: datetime,
        *,
        alone: bool,
        gated: bool,
    ) -> list[Claimed]:
        costs: dict[Scope, int] = {}
        admitted = len(chosen)
        if gated:
            admitted, costs[Scope(queue)] = await gates.reserve(
                self._connection, Scope(queue), len(chosen), lease=number, now=now
            )
        through: list[Paper] = []
        for lane, papers in _by_lane(chosen[:admitted]).items():
            count = len(papers)
            if lane is not None:
                scope = Scope(queue, lane)
                count, costs[scope] = await gates.reserve(
                    self._connection, scope, len(papers), lease=number, now=now
                )
            through += papers[:count]
        jobs = await self._lease(through, number, _runnable(queue, now, alone=alone))
        await self._give_back(queue, chosen[:admitted], through, jobs, number=number, costs=costs)
        return jobs

    async def _lease(self, through: list[Paper], number: int, runnable: Paper) -> list[Claimed]:
        """Mark candidates that still wait as running; a key held while queued is free now.

        One that never ran and holds no key is as it was looked at, and is not read again: whoever
        takes it writes a lease, and a debounce changes holders of a key alone.
        """
        lease = {"state": State.RUNNING.value, "lease": number}
        taken: dict[int, Paper] = {}
        unsure: list[int] = []
        for kind, papers in _by_kind(through).items():
            ids = [paper["_id"] for paper in papers]
            here = runnable
            change: Paper = {"$set": lease}
            if kind == "untouched":
                here = {**here, "lease": 0}
            elif kind == "queued":
                change["$unset"] = {"held_key": 1}
            here = {**here, "_id": among(ids)}  # the costly part of a match comes last
            done = await self._connection.jobs.update_many(here, change)
            if kind == "untouched" and done.matched_count == len(ids):
                taken |= {paper["_id"]: {**paper, **lease} for paper in papers}
            else:
                unsure += ids
        if unsure:
            mine = {**lease, "_id": among(unsure)}
            taken |= {
                paper["_id"]: paper async for paper in self._connection.jobs.find(mine, _LOOK)
            }
        return [read_claimed(taken[p["_id"]]) for p in through if p["_id"] in taken]

    async def _give_back(
        self,
        queue: str,
        reserved: list[Paper],
        through: list[Paper],
        jobs: list[Claimed],
        *,
        number: int,
        costs: dict[Scope, int],
    ) -> None:
        """Return what was reserved for jobs that others took, or that a lane held back."""
        if len(jobs) == len(reserved):
            return
        taken = {job.id for job in jobs}
        unused = {Scope(queue): len(reserved) - len(jobs)} if Scope(queue) in costs else {}
        for paper in through:
            if paper["_id"] not in taken and paper["lane"] is not None:
                scope = Scope(queue, paper["lane"])
                unused[scope] = unused.get(scope, 0) + 1
        for scope, count in unused.items():
            if count:
                await gates.give_back(
                    self._connection, scope, count, lease=number, cost=costs.get(scope, 0)
                )

    # Looking ahead

    async def has_crashed(self, queue: str, now: datetime) -> bool:
        """Say whether a claim alone would find one; behind a closed gate it would not."""
        crashed = _runnable(queue, now, alone=True)
        if await self._connection.jobs.find_one(crashed, {"_id": 1}) is None:
            return False
        whole = await gates.read(self._connection, [Scope(queue)])
        if not all(room(read_gate(paper), now, 1) for paper in whole.values()):
            return False
        closed = gates.closed_lanes(await gates.bounded_lanes(self._connection, queue, now), now)
        open_ones = {**crashed, "lane": {"$nin": closed}}
        return await self._connection.jobs.find_one(open_ones, {"_id": 1}) is not None

    async def next_due(self, queue: str, now: datetime) -> datetime | None:
        """Look at the heads of the queue's lines, and at when their gates open."""
        whole = await gates.read(self._connection, [Scope(queue)])
        opening: datetime | None = now
        for paper in whole.values():
            opening = opens_at(read_gate(paper), now)
        if opening is None:
            return None
        bounded = await gates.bounded_lanes(self._connection, queue, now)
        heads = [self._first_due(queue, {"$nin": [gate.scope.lane for gate in bounded]}, now)]
        heads += [self._first_due_behind(queue, gate, now) for gate in bounded]
        found = [due for due in await asyncio.gather(*heads) if due is not None]
        return max(min(found), opening) if found else None

    async def _first_due(self, queue: str, lane: object, now: datetime) -> datetime | None:
        waiting = {"queue": queue, "state": State.WAITING.value, "lane": lane}
        found = await self._connection.jobs.find_one(waiting, {"run_at": 1}, sort=[("run_at", 1)])
        return None if found is None else max(found["run_at"], now)

    async def _first_due_behind(self, queue: str, gate: Gate, now: datetime) -> datetime | None:
        opens = opens_at(gate, now)
        if opens is None:
            return None
        head = await self._first_due(queue, gate.scope.lane, now)
        return None if head is None else max(head, opens)


def _runnable(queue: str, now: datetime, *, alone: bool) -> Paper:
    return {
        "queue": queue,
        "state": State.WAITING.value,
        "crashes": {"$gte": ISOLATED} if alone else ORDINARY,
        "run_at": {"$lte": now},
    }


async def _none() -> list[str]:
    return []


def _by_kind(papers: Sequence[Paper]) -> dict[str, list[Paper]]:
    """Sort candidates by how they are taken: those held by a queued key, those surely untouched, the rest."""
    kinds: dict[str, list[Paper]] = {}
    for paper in papers:
        if paper.get("key_while") == While.QUEUED.value:
            kind = "queued"
        elif paper["lease"] == 0 and paper.get("unique_key") is None:
            kind = "untouched"
        else:
            kind = "others"
        kinds.setdefault(kind, []).append(paper)
    return kinds


def _by_lane(papers: Sequence[Paper]) -> dict[str | None, list[Paper]]:
    lanes: dict[str | None, list[Paper]] = {}
    for paper in papers:
        lanes.setdefault(paper["lane"], []).append(paper)
    return lanes
