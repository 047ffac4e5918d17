"""The way of an idle worker to a lone job: one write that finds and takes it.

While a queue is empty, a lease lies ready, so that a look costs one round trip and takes the first
plain job it finds. Then the gate and the next heads are read: a job that may not start, or beside
which others than plain ones are due, is put back untouched; where more plain ones wait, the full claim
goes on under the same lease. Looks come every few milliseconds after news and grow rare over a minute
of silence, because a MongoDB alone tells other processes nothing. Limit: jobs of lanes and keyed ones are seen by
full claims alone, every few seconds.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo import ReturnDocument

import cadenza.engine.stores.mongo.gate as gates
from cadenza.engine.job import Claimed, Scope, State, While
from cadenza.engine.store import ISOLATED, Batch
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import ORDINARY, Paper, read_claimed

SOON, OFTEN, SELDOM = 0.001, 0.025, 0.1  # seconds between looks: at first, for a minute, at most
# How a pause grows with each look in vain: up to OFTEN, and from there on.
SLOWER, SLOWEST = 1.1, 1.001
FULL = timedelta(seconds=5)  # after which a full claim looks for what a quick one does not see
FRESH = 0.05  # the part of a lease that may have passed before it is taken: workers leave 0.1
HEADS = 6  # waiting jobs looked at beside the first
_LOOK = {"run_at": 1, "lane": 1, "crashes": 1, "key_while": 1}
_ORDER = [("priority", 1), ("run_at", 1), ("_id", 1)]


@dataclass(slots=True)
class _Idle:
    """What is known of a queue that was found empty."""

    next_due: datetime | None
    looked: datetime
    pause: float = SOON
    news: bool = False  # of this process, since it was found empty
    number: int = 0  # of the lease that lies ready
    staged: datetime | None = None
    span: timedelta = timedelta()  # of the lease that lies ready
    laying: asyncio.Task[None] | None = None
    busy: bool = False  # a look is under way: its lease is not another's
    vain: bool = False  # what was taken last had to be put back


class QuickClaims:
    """Looks at queues that were found empty."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._idle: dict[tuple[str, str], _Idle] = {}  # by queue and worker
        connection.watch(self._hear)

    def _hear(self, queue: str) -> None:
        for (name, _), idle in self._idle.items():
            if queue in (name, ""):
                idle.news, idle.pause = True, SOON

    def invalidate(self) -> None:
        """What is known of empty queues may be wrong: look fully before the next answer."""
        for idle in self._idle.values():
            idle.news = True

    async def close(self) -> None:
        """Let writes that are under way come to their end."""
        laying = [idle.laying for idle in self._idle.values() if idle.laying is not None]
        await asyncio.gather(*laying, return_exceptions=True)

    def found_empty(self, queue: str, worker: str, batch: Batch, now: datetime) -> Batch:
        """Remember that nothing more can run; say when to look again."""
        idle = self._idle.setdefault((queue, worker), _Idle(batch.next_due, now))
        idle.next_due, idle.looked, idle.news = batch.next_due, now, False
        batch.look_again = idle.pause
        return batch

    async def claim(self, queue: str, worker: str, lease: timedelta, *, limit: int) -> Batch | None:
        """Take the first plain jobs of a queue that was empty.

        None, or a batch that is not drained: a full claim is called for.
        """
        idle = self._idle.get((queue, worker))
        if idle is None or idle.busy:
            return None
        idle.busy = True
        try:
            return await self._claim(idle, queue, worker, lease, limit=limit)
        finally:
            idle.busy = False

    async def _claim(
        self, idle: _Idle, queue: str, worker: str, lease: timedelta, *, limit: int
    ) -> Batch | None:
        now = await self._connection.now()
        known_due = idle.next_due is not None and idle.next_due <= now
        if (known_due and idle.vain) or not timedelta() <= now - idle.looked < FULL:
            return None
        if idle.laying is not None:
            laying, idle.laying = idle.laying, None
            await laying
        await self._prepare_lease(idle, queue, worker=worker, lease=lease, now=now)
        paper, gate, heads = await self._look(idle, queue, now)
        if paper is None:
            if idle.news or known_due:
                return None
            idle.pause = min(idle.pause * (SLOWER if idle.pause < OFTEN else SLOWEST), SELDOM)
            return Batch(0, [], idle.next_due, drained=True, look_again=idle.pause)
        others = [head for head in heads if head["_id"] != paper["_id"]]
        due = [head for head in others if head["run_at"] <= now]
        if gate or not all(map(_is_plain, due)):
            fence = {"_id": paper["_id"], "state": State.RUNNING.value, "lease": idle.number}
            await self._connection.jobs.update_one(fence, {"$set": {"state": State.WAITING.value}})
            idle.vain = True
            return None
        batch = Batch(idle.number, [read_claimed(paper)])
        later = others[len(due) :]
        seen_all = len(heads) < HEADS or bool(later)
        if due and seen_all and len(due) < limit:
            batch.jobs += await self._take_more(idle, queue, len(due), now)
            due = []
        batch.drained = not due and (not later or later[0]["lane"] is None)
        idle.staged, idle.pause, idle.vain = None, SOON, False
        if batch.drained:
            batch.next_due = later[0]["run_at"] if later else None
            laying = self._prepare_lease(idle, queue, worker=worker, lease=lease, now=now)
            idle.laying = asyncio.create_task(laying, name="cadenza mongo lease")
            return self.found_empty(queue, worker, batch, now)
        return batch

    async def _look(
        self, idle: _Idle, queue: str, now: datetime
    ) -> tuple[Paper | None, dict[Scope, Paper], list[Paper]]:
        """Take the first plain job; where there is one, read the gate and the heads behind it.

        A look that finds nothing is one command: the fewer, the sooner the server answers the one that does.
        """
        paper = await self._take_one(idle, queue, now)
        if paper is None:
            return None, {}, []
        waiting = {"queue": queue, "state": State.WAITING.value}
        heads = self._connection.jobs.find(waiting, _LOOK).sort("run_at", 1).limit(HEADS)
        gate = gates.read(self._connection, [Scope(queue)])
        return paper, *await asyncio.gather(gate, heads.to_list())

    async def _take_one(self, idle: _Idle, queue: str, now: datetime) -> Paper | None:
        return await self._connection.jobs.find_one_and_update(
            _plain(queue, now),
            {"$set": {"state": State.RUNNING.value, "lease": idle.number}},
            sort=_ORDER,
            return_document=ReturnDocument.AFTER,
        )

    async def _take_more(self, idle: _Idle, queue: str, count: int, now: datetime) -> list[Claimed]:
        """Take the few others that wait, all at once; some may be another's by now."""
        found = await asyncio.gather(*(self._take_one(idle, queue, now) for _ in range(count)))
        papers = [paper for paper in found if paper is not None]
        papers.sort(key=lambda paper: (paper["priority"], paper["run_at"], paper["_id"]))
        return [read_claimed(paper) for paper in papers]

    async def _prepare_lease(
        self, idle: _Idle, queue: str, *, worker: str, lease: timedelta, now: datetime
    ) -> None:
        """Have a lease written that ends a whole span from now, or a little before."""
        fresh = idle.staged is not None and timedelta() <= now - idle.staged <= lease * FRESH
        if fresh and idle.span == lease:
            return
        until = {"worker": worker, "until": now + lease}
        live = {"_id": idle.number, "dead": {"$exists": False}}
        if idle.staged is None or not matched(
            await self._connection.leases.update_one(live, {"$set": until})
        ):
            idle.number = await self._connection.number("lease")
            await self._connection.leases.insert_one(
                {"_id": idle.number, **until, "queue": queue, "scopes": []}
            )
        idle.staged, idle.span = now, lease


def _is_plain(head: Paper) -> bool:
    queued = head.get("key_while") == While.QUEUED.value
    return head["lane"] is None and head["crashes"] < ISOLATED and not queued


def _plain(queue: str, now: datetime) -> Paper:
    return {
        "queue": queue,
        "state": State.WAITING.value,
        "crashes": ORDINARY,
        "lane": None,
        "run_at": {"$lte": now},
        "key_while": {"$ne": While.QUEUED.value},
    }
