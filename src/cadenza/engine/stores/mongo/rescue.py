"""Leases: renewing them, and taking back what those hold that ran out.

An expired lease is first marked as dead, which no renewal undoes; then its jobs are taken back
under their fence, in two writes where none is to end; then it is deleted. Whoever dies in between leaves a dead lease, and the
next one goes on with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pymongo import UpdateOne

import cadenza.engine.stores.mongo.gate as gates
from cadenza.engine.job import Scope, State
from cadenza.engine.notes import crash_note
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.mongo.commit import finish_batches
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import Paper, among
from cadenza.engine.stores.mongo.settle import close_lease

_RUNNING = State.RUNNING.value
_LOOK = {"lease": 1, "queue": 1, "lane": 1, "cancel_requested": 1, "crashes": 1}


async def renew(
    connection: MongoConnection, worker: str, leases: Sequence[int], *, lease: timedelta
) -> Renewal:
    """Extend what this worker still holds, in one write."""
    if not leases:
        return Renewal()
    now = await connection.now()
    mine = {"_id": {"$in": list(leases)}, "worker": worker, "dead": {"$exists": False}}
    await connection.leases.update_many(mine, {"$set": {"until": now + lease}})
    held = {paper["_id"] async for paper in connection.leases.find(mine, {"_id": 1})}
    requested = {"state": _RUNNING, "lease": {"$in": list(held)}, "cancel_requested": True}
    cancel = {paper["_id"] async for paper in connection.jobs.find(requested, {"_id": 1})}
    return Renewal(frozenset(set(leases) - held), frozenset(cancel))


async def rescue(connection: MongoConnection, crash_limit: int) -> Rescue:
    """Take back the jobs of leases that ran out; carry out commits left behind."""
    now = await connection.now()
    await finish_batches(connection, now)
    returned: list[int] = []
    buried: list[int] = []
    queues: set[str] = set()
    for lease in await connection.leases.find({"until": {"$lte": now}}).sort("_id", 1).to_list():
        expired = {"_id": lease["_id"], "until": {"$lte": now}}
        if not matched(await connection.leases.update_one(expired, {"$set": {"dead": True}})):
            continue
        held = {"state": _RUNNING, "lease": lease["_id"]}
        papers = await connection.jobs.find(held, _LOOK).sort("_id", 1).to_list()
        queues |= {paper["queue"] for paper in papers}
        crashed = {p["_id"] for p in papers if p["_id"] in lease.get("started", [p["_id"]])}
        back = await _return(connection, papers, crashed, crash_limit)
        returned += back
        for paper in papers:
            if paper["_id"] in back:
                continue
            count = int(paper["_id"] in crashed)
            ended = await _take_back(connection, paper, crash_limit, now, crashed=count)
            if ended is not None:
                (buried if ended else returned).append(paper["_id"])
        await close_lease(connection, lease["_id"])
    connection.wake(queues)
    return Rescue(tuple(returned), tuple(buried))


async def start(connection: MongoConnection, jobs: Mapping[int, Sequence[int]]) -> None:
    """Mark jobs as started."""
    writes = [
        UpdateOne(
            {"_id": number, "started": {"$exists": True}},
            {"$addToSet": {"started": {"$each": list(ids)}}},
        )
        for number, ids in jobs.items()
    ]
    if writes:
        await connection.leases.bulk_write(writes, ordered=False)


async def _return(
    connection: MongoConnection, papers: Sequence[Paper], crashed: set[int], crash_limit: int
) -> set[int]:
    """Let jobs of one lease wait again that do not end, all at once; say which that were.

    One whose cancel was asked for meanwhile is left to be looked at by itself.
    """
    back: set[int] = set()
    for count in (0, 1):
        group = [
            paper
            for paper in papers
            if (paper["_id"] in crashed) == count
            and not paper["cancel_requested"]
            and (not count or paper["crashes"] + 1 < crash_limit)
        ]
        ids = [paper["_id"] for paper in group]
        if not ids:
            continue
        lease = group[0]["lease"]
        fence = {"state": _RUNNING, "lease": lease, "cancel_requested": False, "_id": among(ids)}
        change = {"$set": {"state": State.WAITING.value}, "$inc": {"crashes": count}}
        done = await connection.jobs.update_many(fence, change)
        if done.matched_count < len(ids):
            still = await connection.jobs.distinct("_id", {**fence, "cancel_requested": True})
            ids = [id_ for id_ in ids if id_ not in still]
        left = Counter[tuple[Scope, int]]()
        for paper in group:
            if paper["_id"] in ids:
                queue, lane = paper["queue"], paper["lane"]
                left.update((scope, lease) for scope in {Scope(queue), Scope(queue, lane)})
        await gates.leave(connection, left)
        back.update(ids)
    return back


async def _take_back(
    connection: MongoConnection, paper: Paper, crash_limit: int, now: datetime, *, crashed: int
) -> bool | None:
    """Take one job back; say whether it crashed once too often, or None if it has moved on."""
    crashes = paper["crashes"] + crashed
    values: Paper = {"crashes": crashes, "state": State.WAITING.value}
    change: Paper = {"$set": values}
    buried = False
    if paper["cancel_requested"]:
        values |= {"state": State.CANCELED.value, "finished_at": now}
    elif crashed and crashes >= crash_limit:
        buried = True
        values |= {"state": State.FAILED.value, "finished_at": now}
        change["$push"] = {"errors": crash_note(crashes, now)}
    if "finished_at" in values:
        change["$unset"] = {"held_key": 1}
    fence = {
        "_id": paper["_id"],
        "state": _RUNNING,
        "lease": paper["lease"],
        "cancel_requested": paper["cancel_requested"],
    }
    if not matched(await connection.jobs.update_one(fence, change)):
        again = await connection.jobs.find_one({**fence, "cancel_requested": True})
        if again is None:
            return None
        return await _take_back(connection, again, crash_limit, now, crashed=crashed)
    queue, lane = paper["queue"], paper["lane"]
    left = {(scope, paper["lease"]): 1 for scope in {Scope(queue), Scope(queue, lane)}}
    await gates.leave(connection, left)
    return buried
