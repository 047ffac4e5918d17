"""Schedules: each occurrence once, with the schedule's own document as the commit.

The jobs of an occurrence are written as `arriving`; the one write that moves the schedule on names
their batch, and so commits it. A batch that was named but not let go is let go by the next reader.
The write holds only under the `turn` that was read before: whoever calls the batch off gives a new
one, and then it is fired anew (`commit.py`).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.mongo.commit import let_go, withdraw
from cadenza.engine.stores.mongo.ground import Ground, matched
from cadenza.engine.stores.mongo.insert import answers_batch, lay_down
from cadenza.engine.stores.mongo.papers import (
    maybe,
    read_schedule,
    to_millisecond,
    write_schedule,
)


async def put(ground: Ground, schedule: Schedule, *, keep_paused: bool) -> Schedule:
    """Replace by name on the revision that was read, or try anew."""
    while True:
        paper = await ground.schedules.find_one({"_id": schedule.name})
        if paper is None:
            turn = await ground.number("turn")  # one that no dropped schedule of this name had
            fresh = {"_id": schedule.name, **write_schedule(schedule), "turn": turn}
            try:
                await ground.schedules.insert_one(fresh)
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
            fence["turn"] = paper.get("turn")  # not one that was dropped and made anew meanwhile
            change = {"$set": write_schedule(written)}
            if not matched(await ground.schedules.update_one(fence, change)):
                continue
        ground.wake({""})
        return replace(written, next_at=maybe(written.next_at), last_at=maybe(written.last_at))


async def change(ground: Ground, name: str, *, paused: bool) -> Schedule | None:
    """Pause or open a schedule, if it is there."""
    paper = await ground.schedules.find_one_and_update(
        {"_id": name},
        {"$set": {"paused": paused}, "$inc": {"revision": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if paper is None:
        return None
    ground.wake({""})
    return read_schedule(paper)


async def list_all(ground: Ground, *, due_only: bool) -> list[Schedule]:
    """List schedules by name."""
    wanted = {"paused": False, "next_at": {"$lte": await ground.now()}} if due_only else {}
    papers = await ground.schedules.find(wanted).sort("_id", 1).to_list()
    for paper in papers:
        if paper.get("firing") is not None:
            await _carry_out(ground, paper["_id"], paper["firing"])
    # A null is not less than any date, but a stand-in may think so.
    return [read_schedule(p) for p in papers if not due_only or p["next_at"] is not None]


async def drop(ground: Ground, name: str) -> bool:
    """Forget a schedule; jobs that it made stay, also those not yet let go."""
    while True:
        paper = await ground.schedules.find_one({"_id": name})
        if paper is None:
            return False
        if paper.get("firing") is not None:  # let go while the commit can still be read
            await _carry_out(ground, name, paper["firing"])
        gone = await ground.schedules.delete_one({"_id": name, "firing": None})
        if gone.deleted_count:
            return True


async def _carry_out(ground: Ground, name: str, batch: int) -> None:
    await let_go(ground, batch)
    await ground.schedules.update_one({"_id": name, "firing": batch}, {"$unset": {"firing": 1}})


async def fire(
    ground: Ground,
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
        paper = await ground.schedules.find_one(fence)
        if paper is None:
            return None
        if paper.get("firing") is not None:
            await _carry_out(ground, name, paper["firing"])
        answers = await lay_down(ground, jobs, batch=True, firing_of=name) if jobs else []
        batch = answers_batch(answers)
        values = {
            "next_at": maybe(next_at),
            "last_at": to_millisecond(expected),
            "last_note": firing_note(note, answers),
            "firing": batch,
        }
        held = {**fence, "turn": paper.get("turn")}
        if matched(await ground.schedules.update_one(held, {"$set": values})):
            break
        if batch is not None:
            await withdraw(ground, batch)
    if batch is not None:
        await _carry_out(ground, name, batch)
    ground.wake(job.queue for job in jobs)
    return answers
