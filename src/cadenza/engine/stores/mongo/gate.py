"""Gates: who may start, decided on one document at a time.

A gate keeps what runs in it by lease (`flights`), so a reservation that its worker did not live to
give back goes with the lease. A reservation is made on the version that was read, or again. Limit:
a claim that read no gate does not see one that is made in the same instant.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from pymongo import UpdateOne
from pymongo.errors import DuplicateKeyError

from cadenza.engine.gates import admit, is_closed, room
from cadenza.engine.job import Gate, Limit, NewJob, Scope, State
from cadenza.engine.stores.mongo.connection import MongoConnection
from cadenza.engine.stores.mongo.documents import (
    Paper,
    gate_id,
    micros,
    read_gate,
    stamp,
    to_millisecond,
    write_gate,
    write_limit,
)

TRIES = 20  # reservations that meet others on the same gate


async def ensure(connection: MongoConnection, scope: Scope) -> None:
    """Make a gate if there is none; it knows what runs already."""
    if await connection.gates.find_one({"_id": gate_id(scope)}, {"_id": 1}) is not None:
        return
    turn = await connection.counters.find_one({"_id": "lease"})
    running: Paper = {"queue": scope.queue, "state": State.RUNNING.value}
    if scope.lane is not None:
        running["lane"] = scope.lane
    flights: dict[str, int] = {}
    async for paper in connection.jobs.find(running, {"lease": 1}):
        flights[str(paper["lease"])] = flights.get(str(paper["lease"]), 0) + 1
    try:
        await connection.gates.insert_one(
            write_gate(scope, flights, 0 if turn is None else turn["last"])
        )
    except DuplicateKeyError:
        return
    if flights:
        leases = {"_id": {"$in": [int(lease) for lease in flights]}}
        await connection.leases.update_many(leases, {"$addToSet": {"scopes": gate_id(scope)}})


async def open_lanes(connection: MongoConnection, jobs: Iterable[NewJob]) -> None:
    """Give each lane its gate before a job stands in it."""
    for scope in {Scope(job.queue, job.lane) for job in jobs if job.lane is not None}:
        await ensure(connection, scope)


async def limit_lanes(connection: MongoConnection, inserted: Iterable[NewJob]) -> None:
    """Give each lane the limit that its newest job brought."""
    limits = {
        Scope(job.queue, job.lane): job.limit
        for job in inserted
        if job.limit and job.lane is not None
    }
    for scope, limit in limits.items():
        change = {"$set": {"limit": write_limit(limit)}, "$inc": {"version": 1}}
        await connection.gates.update_one({"_id": gate_id(scope)}, change)


async def set_gate(
    connection: MongoConnection,
    scope: Scope,
    *,
    paused: bool | None = None,
    reason: str | None = None,
    limit: Limit | None = None,
    park: timedelta | None = None,
) -> Gate:
    """Change what is given in one write."""
    await ensure(connection, scope)
    values: Paper = {}
    change: Paper = {"$inc": {"version": 1}}
    if paused is not None:
        values |= {"paused": paused, "reason": reason if paused else None}
    if limit is not None:
        values["limit"] = write_limit(limit)
    if park is not None and park > timedelta():
        change["$max"] = {"parked_until": to_millisecond(await connection.now() + park)}
    elif park is not None:
        values["parked_until"] = None
    if values:
        change["$set"] = values
    await connection.gates.update_one({"_id": gate_id(scope)}, change)
    (paper,) = await connection.gates.find({"_id": gate_id(scope)}).to_list()
    return read_gate(paper)


async def read(connection: MongoConnection, scopes: Iterable[Scope]) -> dict[Scope, Paper]:
    """Read those of the gates that exist."""
    names = [gate_id(scope) for scope in scopes]
    found = await connection.gates.find({"_id": {"$in": names}}).to_list()
    return {Scope(paper["queue"], paper["lane"]): paper for paper in found}


async def all_gates(connection: MongoConnection) -> list[Gate]:
    """Show every gate."""
    gates = [read_gate(paper) async for paper in connection.gates.find({})]
    return sorted(gates, key=lambda gate: str(gate.scope))


async def bounded_lanes(connection: MongoConnection, queue: str, now: datetime) -> list[Gate]:
    """Read the gates of a queue's lanes that may hold something back."""
    holds = [
        {"paused": True},
        {"parked_until": {"$gt": now}},
        {"limit.concurrency": {"$ne": None}},
        {"limit.rate": {"$ne": None}},
    ]
    wanted = {"queue": queue, "lane": {"$ne": None}, "$or": holds}
    return [read_gate(paper) async for paper in connection.gates.find(wanted)]


async def reserve(
    connection: MongoConnection, scope: Scope, wanted: int, *, lease: int, now: datetime
) -> tuple[int, int]:
    """Let up to `wanted` of a scope start; return how many, and what one start costs of a rate."""
    for _ in range(TRIES):
        paper = await connection.gates.find_one({"_id": gate_id(scope)})
        if paper is None:
            return wanted, 0
        gate = read_gate(paper)
        count = room(gate, now, wanted)
        if count == 0:
            return 0, 0
        after = admit(gate, now, count)
        change: Paper = {
            "$inc": {"version": 1, f"flights.{lease}": count},
            "$set": {"turn": lease},
        }
        if after.next_start is not None:
            change["$set"]["next_start"] = stamp(after.next_start)
        fence = {"_id": paper["_id"], "version": paper["version"]}
        if (await connection.gates.update_one(fence, change)).matched_count:
            cost = micros(gate.limit.rate.interval) if gate.limit.rate else 0
            return count, cost
    return 0, 0


async def give_back(
    connection: MongoConnection, scope: Scope, count: int, *, lease: int, cost: int
) -> None:
    """Undo so much of a reservation that found nothing to start."""
    change: Paper = {"$inc": {f"flights.{lease}": -count}}
    if cost:
        change["$inc"]["next_start"] = -cost * count
    await connection.gates.update_one({"_id": gate_id(scope)}, change)


async def leave(connection: MongoConnection, left: Mapping[tuple[Scope, int], int]) -> None:
    """Take jobs that have ended off their gates, where there are such."""
    writes: list[UpdateOne] = []
    for (scope, lease), count in left.items():
        flight = f"flights.{lease}"
        fence = {"_id": gate_id(scope), flight: {"$gt": 0}}
        writes.append(UpdateOne(fence, {"$inc": {flight: -count}}))
    if writes:
        await connection.gates.bulk_write(writes, ordered=False)


async def forget_lease(connection: MongoConnection, lease: int, scopes: list[str]) -> None:
    """Take a lease that has ended off its gates."""
    if scopes:
        here = {"_id": {"$in": scopes}}
        await connection.gates.update_many(here, {"$unset": {f"flights.{lease}": 1}})


def closed_lanes(gates: Iterable[Gate], now: datetime) -> list[str | None]:
    """Name the lanes in which nothing may start now."""
    return [gate.scope.lane for gate in gates if is_closed(gate, now) or not room(gate, now, 1)]
