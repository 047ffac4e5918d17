"""Writing outcomes, each fenced by (id, running, lease) in the one write that settles it.

A batch is one read, one bulk write and one write to the gates. The read only prepares: what moved
between it and the write is not matched, and is then looked at one by one.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pymongo import DeleteMany, DeleteOne, UpdateOne

import cadenza.engine.stores.mongo.gate as gates
from cadenza.engine.job import Scope, State
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.mongo.connection import MongoConnection
from cadenza.engine.stores.mongo.documents import Paper, among, to_millisecond

_COUNTED = (Verdict.DONE, Verdict.RETRY, Verdict.FAILED)
_WAITS = (Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED)
_LOOK = {"lease": 1, "state": 1, "queue": 1, "lane": 1, "cancel_requested": 1, "crashes": 1}


async def settle(
    connection: MongoConnection, settlements: Sequence[Settlement], closed: Sequence[int]
) -> list[Settlement]:
    """Write each outcome whose lease still holds; return those refused."""
    now = await connection.now()
    held = await _read_held(connection, settlements) if settlements else {}
    refused: list[Settlement] = []
    mine: list[Settlement] = []
    seen: set[int] = set()
    for one in settlements:
        fits = one.id in held and held[one.id]["lease"] == one.lease and one.id not in seen
        (mine if fits else refused).append(one)
        if fits:
            seen.add(one.id)
    if mine:
        done = await connection.jobs.bulk_write(_writes(mine, held, now), ordered=False)
        if done.matched_count + done.deleted_count < len(mine):
            missed = await _repeat_missed(connection, mine, held, now)
            refused += missed
            mine = [one for one in mine if one not in missed]
    await asyncio.gather(
        _leave(connection, mine, held), *(close_lease(connection, number) for number in closed)
    )
    for one in mine:
        if one.park is not None:
            await gates.set_gate(connection, one.park.scope, park=one.park.wait)
    connection.wake(held[one.id]["queue"] for one in mine)
    return refused


async def _read_held(
    connection: MongoConnection, settlements: Sequence[Settlement]
) -> dict[int, Paper]:
    wanted = {
        "state": State.RUNNING.value,
        "lease": {"$in": list({one.lease for one in settlements})},
        "_id": among([one.id for one in settlements]),
    }
    return {paper["_id"]: paper async for paper in connection.jobs.find(wanted, _LOOK)}


def _writes(
    mine: Sequence[Settlement], held: Mapping[int, Paper], now: datetime
) -> list[UpdateOne | DeleteOne | DeleteMany]:
    """Word a batch: what is done and not kept goes with one write for each lease."""
    gone: dict[int, list[int]] = {}
    writes: list[UpdateOne | DeleteOne | DeleteMany] = []
    for one in mine:
        if _goes(one):
            gone.setdefault(one.lease, []).append(one.id)
        else:
            writes.append(_write(one, held[one.id], now))
    for lease, ids in gone.items():
        fence = {"state": State.RUNNING.value, "lease": lease, "_id": among(ids)}
        writes.append(DeleteMany(fence))
    return writes


def _goes(one: Settlement) -> bool:
    return one.verdict is Verdict.DONE and not one.keep


def _write(one: Settlement, paper: Mapping[str, Any], now: datetime) -> UpdateOne | DeleteOne:
    fence = {
        "_id": one.id,
        "state": State.RUNNING.value,
        "lease": one.lease,
        "cancel_requested": paper["cancel_requested"],
    }
    if _goes(one):
        return DeleteOne(fence)
    return UpdateOne(fence, _change(one, now, canceled=paper["cancel_requested"]))


def _change(one: Settlement, now: datetime, *, canceled: bool) -> Paper:
    verdict = one.verdict
    values: Paper = {}
    change: Paper = {"$set": values}
    if one.error is not None:
        change["$push"] = {"errors": one.error}
    if verdict in _COUNTED:
        change["$inc"] = {"attempts": 1}
    if verdict in _WAITS and not canceled:
        values["state"] = State.WAITING.value
        if verdict is Verdict.SNOOZE:
            change["$inc"] = {"snoozes": 1}
        if verdict is not Verdict.RELEASED:
            values["run_at"] = to_millisecond(one.at or now + (one.delay or timedelta()))
        return change
    state = State.CANCELED.value if verdict in _WAITS else verdict.value
    values |= {"state": state, "output": one.output, "finished_at": now}
    change["$unset"] = {"held_key": 1}
    return change


async def _repeat_missed(
    connection: MongoConnection,
    mine: Sequence[Settlement],
    held: Mapping[int, Paper],
    now: datetime,
) -> list[Settlement]:
    """Settle again what was asked to be canceled meanwhile; return what was lost."""
    ids = [one.id for one in mine]
    after = {p["_id"]: p async for p in connection.jobs.find({"_id": {"$in": ids}}, _LOOK)}
    lost: list[Settlement] = []
    for one in mine:
        paper = after.get(one.id)
        if paper is None:  # deleted by this settlement: nobody else deletes what runs
            continue
        if paper["state"] == State.RUNNING.value and paper["lease"] == one.lease:
            again = await connection.jobs.bulk_write([_write(one, paper, now)])
            if not again.matched_count + again.deleted_count:
                lost.append(one)
        elif paper["lease"] != one.lease or paper["crashes"] != held[one.id]["crashes"]:
            lost.append(one)
    return lost


async def _leave(
    connection: MongoConnection, mine: Sequence[Settlement], held: Mapping[int, Paper]
) -> None:
    left: dict[tuple[Scope, int], int] = {}
    for one in mine:
        queue, lane = held[one.id]["queue"], held[one.id]["lane"]
        for scope in {Scope(queue), Scope(queue, lane)}:
            left[scope, one.lease] = left.get((scope, one.lease), 0) + 1
    await gates.leave(connection, left)


async def close_lease(connection: MongoConnection, number: int) -> None:
    """Forget a lease, and what gates still count under it."""
    lease = await connection.leases.find_one_and_delete({"_id": number})
    if lease is not None:
        await gates.forget_lease(connection, number, lease["scopes"])
