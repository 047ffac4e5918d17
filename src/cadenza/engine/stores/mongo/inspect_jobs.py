"""Looking at jobs and changing what becomes of them, for people and programs."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cadenza.engine.job import Filter, Job, State, Tally
from cadenza.engine.notes import cancel_note
from cadenza.engine.store import Changed
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import ARRIVING, FINISHED, Paper, read_job

_THERE = {"$ne": ARRIVING}


async def get(connection: MongoConnection, ids: Sequence[int]) -> list[Job]:
    """Show those of the jobs that exist."""
    papers = await connection.jobs.find({"_id": {"$in": list(ids)}, "state": _THERE}).to_list()
    found = {job.id: job for job in await _show(connection, papers)}
    return [found[id_] for id_ in ids if id_ in found]


async def find(connection: MongoConnection, wanted: Filter) -> list[Job]:
    """List jobs, newest first."""
    here: Paper = {"state": {"$in": [s.value for s in wanted.states]} if wanted.states else _THERE}
    for name in ("queue", "task", "lane", "schedule"):
        if getattr(wanted, name) is not None:
            here[name] = getattr(wanted, name)
    if wanted.tag is not None:
        here["tags"] = wanted.tag
    if wanted.before is not None:
        here["_id"] = {"$lt": wanted.before}
    if wanted.limit <= 0:
        return []
    papers = await connection.jobs.find(here).sort("_id", -1).limit(wanted.limit).to_list()
    return await _show(connection, papers)


async def _show(connection: MongoConnection, papers: Sequence[Paper]) -> list[Job]:
    running = {p["lease"] for p in papers if p["state"] == State.RUNNING.value}
    leases: dict[int, Paper] = {}
    if running:
        held = connection.leases.find({"_id": {"$in": list(running)}})
        leases = {lease["_id"]: lease async for lease in held}
    return [
        read_job(p, leases.get(p["lease"]) if p["state"] == State.RUNNING.value else None)
        for p in papers
    ]


async def tally(connection: MongoConnection) -> list[Tally]:
    """Count by queue and state."""
    group = {"_id": {"queue": "$queue", "state": "$state"}, "count": {"$sum": 1}}
    found = await connection.jobs.aggregate([{"$match": {"state": _THERE}}, {"$group": group}])
    counts = [(p["_id"]["queue"], State(p["_id"]["state"]), p["count"]) async for p in found]
    return [Tally(*count) for count in sorted(counts)]


async def cancel(connection: MongoConnection, ids: Sequence[int], reason: str) -> list[Changed]:
    """Cancel waiting jobs at once, ask for running ones."""
    now = await connection.now()
    return [await _cancel_one(connection, id_, cancel_note(reason, now), now) for id_ in ids]


async def _cancel_one(connection: MongoConnection, id_: int, note: str, now: datetime) -> Changed:
    while True:
        paper = await connection.jobs.find_one({"_id": id_, "state": _THERE}, {"state": 1})
        if paper is None:
            return "unknown"
        if paper["state"] in FINISHED:
            return "unchanged"
        fence = {"_id": id_, "state": paper["state"]}
        if paper["state"] == State.RUNNING.value:
            ask = {"$set": {"cancel_requested": True}, "$push": {"errors": note}}
            fresh = {**fence, "cancel_requested": False}
            requested = matched(await connection.jobs.update_one(fresh, ask))
            if requested or await connection.jobs.find_one(fence, {"_id": 1}) is not None:
                connection.wake({""})
                return "requested"
            continue
        end = {
            "$set": {"state": State.CANCELED.value, "finished_at": now},
            "$push": {"errors": note},
            "$unset": {"held_key": 1},
        }
        if matched(await connection.jobs.update_one(fence, end)):
            return "changed"


async def revive(connection: MongoConnection, ids: Sequence[int]) -> list[Changed]:
    """Let finished jobs wait again and waiting ones go now."""
    now = await connection.now()
    answers: list[Changed] = []
    queues: set[str] = set()
    for id_ in ids:
        answer, queue = await _revive_one(connection, id_, now)
        answers.append(answer)
        queues |= {queue} if queue is not None else set()
    connection.wake(queues)
    return answers


async def _revive_one(
    connection: MongoConnection, id_: int, now: datetime
) -> tuple[Changed, str | None]:
    fresh = {"attempts": 0, "crashes": 0, "snoozes": 0, "cancel_requested": False}
    gone = {"finished_at": 1, "output": 1, "unique_key": 1, "held_key": 1, "key_while": 1}
    while True:
        paper = await connection.jobs.find_one(
            {"_id": id_, "state": _THERE}, {"state": 1, "queue": 1}
        )
        if paper is None:
            return "unknown", None
        if paper["state"] == State.RUNNING.value:
            return "unchanged", paper["queue"]
        change: Paper = {"$min": {"run_at": now}}
        if paper["state"] in FINISHED:
            change |= {"$set": {"state": State.WAITING.value, **fresh}, "$unset": gone}
        fence = {"_id": id_, "state": paper["state"]}
        if matched(await connection.jobs.update_one(fence, change)):
            return "changed", paper["queue"]


async def prune(
    connection: MongoConnection, *, done: timedelta, failed: timedelta, limit: int
) -> int:
    """Forget what finished long ago, and marks that say nothing any more."""
    now = await connection.now()
    ended = [State.DONE.value, State.CANCELED.value]
    old: Paper = {
        "$or": [
            {"state": {"$in": ended}, "finished_at": {"$lt": now - done}},
            {"state": State.FAILED.value, "finished_at": {"$lt": now - failed}},
        ]
    }
    found = await connection.jobs.find(old, {"_id": 1}).limit(limit).to_list() if limit > 0 else []
    count = 0
    if found:
        these = {**old, "_id": {"$in": [paper["_id"] for paper in found]}}
        count = (await connection.jobs.delete_many(these)).deleted_count
    await connection.marks.delete_many({"until": {"$lte": now}})
    return count
