"""Leases: renewing them, and taking back what those hold that ran out.

An expired lease is first marked as dead, which no renewal undoes; then its jobs are taken back one
by one under their fence; then it is deleted. Whoever dies in between leaves a dead lease, and the
next one goes on with it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import cadenza.engine.stores.mongo.gate as gates
from cadenza.engine.job import Scope, State
from cadenza.engine.notes import crash_note
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.mongo.commit import finish_batches
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import Paper
from cadenza.engine.stores.mongo.settle import close_lease

_RUNNING = State.RUNNING.value


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
    asked = {"state": _RUNNING, "lease": {"$in": list(held)}, "cancel_requested": True}
    cancel = {paper["_id"] async for paper in connection.jobs.find(asked, {"_id": 1})}
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
        for paper in await connection.jobs.find(held).sort("_id", 1).to_list():
            ended = await _take_back(connection, paper, crash_limit, now)
            if ended is None:
                continue
            (buried if ended else returned).append(paper["_id"])
            queues.add(paper["queue"])
        await close_lease(connection, lease["_id"])
    connection.wake(queues)
    return Rescue(tuple(returned), tuple(buried))


async def _take_back(
    connection: MongoConnection, paper: Paper, crash_limit: int, now: datetime
) -> bool | None:
    """Count a crash; say whether it was one too many, or None if the job has moved on."""
    crashes = paper["crashes"] + 1
    values: Paper = {"crashes": crashes, "state": State.WAITING.value}
    change: Paper = {"$set": values}
    buried = False
    if paper["cancel_requested"]:
        values |= {"state": State.CANCELED.value, "finished_at": now}
    elif crashes >= crash_limit:
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
        return None if again is None else await _take_back(connection, again, crash_limit, now)
    queue, lane = paper["queue"], paper["lane"]
    left = {(scope, paper["lease"]): 1 for scope in {Scope(queue), Scope(queue, lane)}}
    await gates.leave(connection, left)
    return buried
