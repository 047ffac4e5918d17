"""Deciding a batch: one write on one document commits it, or makes that impossible for ever.

The jobs of a batch lie there as `arriving`, unseen, but the keys that they hold are felt. Whoever
meets such a key must not answer with a job that may yet be withdrawn: it waits for the decision,
and calls off a batch that stands still. A call's batch is committed by a small document and called
off by a tombstone in its place; a firing's by the schedule's document, under the `turn` it was read
with, and called off by a new turn. Limit: a batch that writes nothing for `STILL` seconds, because
it looks at keys that others hold, is taken for dead and has to start over.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo.errors import DuplicateKeyError

from cadenza.engine.job import State
from cadenza.engine.stores.mongo.connection import MongoConnection
from cadenza.engine.stores.mongo.documents import ARRIVING

WITHDRAWN = timedelta(hours=1)
REMEMBERED = timedelta(days=1)  # a batch that was called off, so that it is not committed late
STILL = 2.0  # seconds without a new job after which a batch is called off by who waits for it
_SOON, _SELDOM = 0.002, 0.1  # seconds between looks at a batch that is waited for


async def commit(connection: MongoConnection, batch: int) -> bool:
    """Commit a call's batch and let it go; False: it was called off."""
    try:
        await connection.batches.insert_one({"_id": batch})
    except DuplicateKeyError:
        if not await _is_committed(connection, batch):
            return False
    await release(connection, batch)
    await connection.batches.delete_one({"_id": batch})
    return True


async def release(connection: MongoConnection, batch: int) -> None:
    """Make the jobs of a committed batch wait; may be done again without harm."""
    await connection.jobs.update_many(
        {"batch": batch, "state": ARRIVING},
        {"$set": {"state": State.WAITING.value}, "$unset": {"batch": 1, "firing_of": 1}},
    )


async def withdraw(connection: MongoConnection, batch: int) -> None:
    """Take back a batch that cannot be committed any more."""
    await connection.jobs.delete_many({"batch": batch, "state": ARRIVING})


async def await_decision(
    connection: MongoConnection, holder: Mapping[str, Any], *, mine: int | None
) -> None:
    """Wait until the batch of a job that holds a key is decided; call off one that stands still."""
    batch = holder["batch"]
    # Of two that wait for each other the older loses patience first, and the younger starts over.
    patience = STILL if mine is None or mine < batch else 2 * STILL
    size, since, pause = 0, connection.clock.monotonic(), _SOON
    while True:
        found = await connection.jobs.count_documents({"batch": batch, "state": ARRIVING})
        if found == 0:
            return
        if await _is_committed(connection, batch):
            await release(connection, batch)
            return
        if found != size:
            size, since = found, connection.clock.monotonic()
        elif connection.clock.monotonic() - since > patience:
            await abort_batch(connection, batch, firing_of=holder.get("firing_of"))
            return
        await connection.clock.sleep(pause)
        pause = min(pause * 2, _SELDOM)


async def abort_batch(connection: MongoConnection, batch: int, *, firing_of: str | None) -> None:
    """Decide for one who does not: after this a batch is let go, or withdrawn for good."""
    if firing_of is not None:
        turn = {"turn": await connection.number("turn")}
        await connection.schedules.update_one({"_id": firing_of}, {"$set": turn})
    else:
        await _bury(connection, batch)
    if await _is_committed(connection, batch):
        await release(connection, batch)
    else:
        await withdraw(connection, batch)


async def _bury(connection: MongoConnection, batch: int) -> None:
    """Write the tombstone, unless the commit, or another's tombstone, lies there."""
    try:
        await connection.batches.insert_one({"_id": batch, "withdrawn": await connection.now()})
    except DuplicateKeyError:
        return


async def _is_committed(connection: MongoConnection, batch: int) -> bool:
    """Say whether a commit lies there; one that is gone was carried out, so nothing is arriving."""
    called = {"_id": batch, "withdrawn": {"$exists": False}}
    if await connection.batches.find_one(called) is not None:
        return True
    return await connection.schedules.find_one({"firing": batch}, {"_id": 1}) is not None


async def finish_batches(connection: MongoConnection, now: datetime) -> None:
    """Carry out commits whose writer did not live to; withdraw what was never committed."""
    async for said in connection.batches.find({}):
        withdrawn = said.get("withdrawn")
        if withdrawn is None:
            await release(connection, said["_id"])
        else:
            await withdraw(connection, said["_id"])
        if withdrawn is None or now - withdrawn > REMEMBERED:
            await connection.batches.delete_one({"_id": said["_id"]})
    old = {"state": ARRIVING, "created_at": {"$lt": now - WITHDRAWN}}
    looked = connection.jobs.find(old, {"batch": 1, "firing_of": 1})
    left = {paper["batch"]: paper.get("firing_of") async for paper in looked}
    for batch, firing_of in left.items():
        await abort_batch(connection, batch, firing_of=firing_of)
