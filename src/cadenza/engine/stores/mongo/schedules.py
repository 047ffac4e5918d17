"""Schedules: each occurrence once, with the schedule's own document as the commit.

The jobs of an occurrence are written as `arriving`; the one write that moves the schedule on names
their batch, and so commits it. A batch that was named but not let go is let go by the next reader.
The write holds only under the `turn` that was read before: whoever calls the batch off gives a new
one, and then it is fired again (`commit.py`).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.mongo.commit import release, withdraw
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import (
    maybe,
    read_schedule,
    to_millisecond,
    write_schedule,
)
from cadenza.engine.stores.mongo.insert import answers_batch, insert_documents


async def put(connection: MongoConnection, schedule: Schedule, *, keep_paused: bool) -> Schedule:
    """Replace by name on the revision that was read, or try again."""
    while True:
        paper = await connection.schedules.find_one({"_id": schedule.name})
        if paper is None:
            turn = await connection.number("turn")  # one that no dropped schedule of this name had
            fresh = {"_id": schedule.name, **write_schedule(schedule), "turn": turn}
            try:
                await connection.schedules.insert_one(fresh)
            except DuplicateKeyError:
                continue
            written = schedule
        else:
            old = read_schedule(paper)
            written = replace(
                schedule, revision=old.revision + 1, last_at=old.last_at, last_note=old.last_note
            )
            if written.recurrence == old.recurrence:
                written = replace(written, next_at=old.next_at)
            if keep_paused:
                written = replace(written, paused=old.paused)
            fence = {"_id": old.name, "revision": old.revision, "next_at": paper["next_at"]}
            fence["turn"] = paper.get("turn")  # not one that was dropped and made again meanwhile
            change = {"$set": write_schedule(written)}
            if not matched(await connection.schedules.update_one(fence, change)):
                continue
        connection.wake({""})
        return replace(written, next_at=maybe(written.next_at), last_at=maybe(written.last_at))


async def change(connection: MongoConnection, name: str, *, paused: bool) -> Schedule | None:
    """Pause or open a schedule, if it is there."""
    paper = await connection.schedules.find_one_and_update(
        {"_id": name},
        {"$set": {"paused": paused}, "$inc": {"revision": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if paper is None:
        return None
    connection.wake({""})
    return read_schedule(paper)


async def list_all(connection: MongoConnection, *, due_only: bool) -> list[Schedule]:
    """List schedules by name."""
    wanted = {"paused": False, "next_at": {"$lte": await connection.now()}} if due_only else {}
    papers = await connection.schedules.find(wanted).sort("_id", 1).to_list()
    for paper in papers:
        if paper.get("firing") is not None:
            await _carry_out(connection, paper["_id"], paper["firing"])
    # A null is not less than any date, but a stand-in may think so.
    return [read_schedule(p) for p in papers if not due_only or p["next_at"] is not None]


async def drop(connection: MongoConnection, name: str) -> bool:
    """Forget a schedule; jobs that it made stay, also those not yet let go."""
    while True:
        paper = await connection.schedules.find_one({"_id": name})
        if paper is None:
            return False
        if paper.get("firing") is not None:  # let go while the commit can still be read
            await _carry_out(connection, name, paper["firing"])
        gone = await connection.schedules.delete_one({"_id": name, "firing": None})
        if gone.deleted_count:
            return True


async def _carry_out(connection: MongoConnection, name: str, batch: int) -> None:
    await release(connection, batch)
    await connection.schedules.update_one({"_id": name, "firing": batch}, {"$unset": {"firing": 1}})


async def fire(
    connection: MongoConnection,
    name: str,
    *,
    revision: int,
    expected: datetime,
    next_at: datetime | None,
    note: str | None,
    jobs: Sequence[NewJob],
) -> list[Enqueued] | None:
    """Move on and let the jobs go, unless somebody else did."""
    fence = {"_id": name, "revision": revision, "next_at": to_millisecond(expected)}
    while True:
        paper = await connection.schedules.find_one(fence)
        if paper is None:
            return None
        if paper.get("firing") is not None:
            await _carry_out(connection, name, paper["firing"])
        answers = (
            await insert_documents(connection, jobs, batch=True, firing_of=name) if jobs else []
        )
        batch = answers_batch(answers)
        values = {
            "next_at": maybe(next_at),
            "last_at": to_millisecond(expected),
            "last_note": firing_note(note, answers),
            "firing": batch,
        }
        held = {**fence, "turn": paper.get("turn")}
        if matched(await connection.schedules.update_one(held, {"$set": values})):
            break
        if batch is not None:
            await withdraw(connection, batch)
    if batch is not None:
        await _carry_out(connection, name, batch)
    connection.wake(job.queue for job in jobs)
    return answers
