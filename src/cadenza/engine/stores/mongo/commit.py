"""Deciding a batch: one write on one document commits it, or makes that impossible for ever.

The jobs of a batch lie there as `arriving`, unseen, but the keys that they hold are felt. Whoever
meets such a key must not answer with a job that may yet be withdrawn: it waits for the decision,
and calls off a batch that stands still. A call's batch is committed by a small document and called
off by a tombstone in its place; a firing's by the schedule's document, under the `turn` it was read
with, and called off by a new turn. Limit: a batch that writes nothing for `STILL` seconds, because
it looks at keys that others hold, is taken for dead and has to begin anew.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo.errors import DuplicateKeyError

from cadenza.engine.job import State
from cadenza.engine.stores.mongo.ground import Ground
from cadenza.engine.stores.mongo.papers import ARRIVING

WITHDRAWN = timedelta(hours=1)
REMEMBERED = timedelta(days=1)  # a batch that was called off, so that it is not committed late
STILL = 2.0  # seconds without a new job after which a batch is called off by who waits for it
_SOON, _SELDOM = 0.002, 0.1  # seconds between looks at a batch that is waited for


async def commit(ground: Ground, batch: int) -> bool:
    """Commit a call's batch and let it go; False: it was called off."""
    try:
        await ground.batches.insert_one({"_id": batch})
    except DuplicateKeyError:
        if not await _is_committed(ground, batch):
            return False
    await let_go(ground, batch)
    await ground.batches.delete_one({"_id": batch})
    return True


async def let_go(ground: Ground, batch: int) -> None:
    """Make the jobs of a committed batch wait; may be done again without harm."""
    await ground.jobs.update_many(
        {"batch": batch, "state": ARRIVING},
        {"$set": {"state": State.WAITING.value}, "$unset": {"batch": 1, "firing_of": 1}},
    )


async def withdraw(ground: Ground, batch: int) -> None:
    """Take back a batch that cannot be committed any more."""
    await ground.jobs.delete_many({"batch": batch, "state": ARRIVING})


async def await_decision(ground: Ground, holder: Mapping[str, Any], *, mine: int | None) -> None:
    """Wait until the batch of a job that holds a key is decided; call off one that stands still."""
    batch = holder["batch"]
    # Of two that wait for each other the older loses patience first, and the younger begins anew.
    patience = STILL if mine is None or mine < batch else 2 * STILL
    size, since, pause = 0, ground.clock.monotonic(), _SOON
    while True:
        found = await ground.jobs.count_documents({"batch": batch, "state": ARRIVING})
        if found == 0:
            return
        if await _is_committed(ground, batch):
            await let_go(ground, batch)
            return
        if found != size:
            size, since = found, ground.clock.monotonic()
        elif ground.clock.monotonic() - since > patience:
            await call_off(ground, batch, firing_of=holder.get("firing_of"))
            return
        await ground.clock.sleep(pause)
        pause = min(pause * 2, _SELDOM)


async def call_off(ground: Ground, batch: int, *, firing_of: str | None) -> None:
    """Decide for one who does not: after this a batch is let go, or withdrawn for good."""
    if firing_of is not None:
        turn = {"turn": await ground.number("turn")}
        await ground.schedules.update_one({"_id": firing_of}, {"$set": turn})
    else:
        await _bury(ground, batch)
    if await _is_committed(ground, batch):
        await let_go(ground, batch)
    else:
        await withdraw(ground, batch)


async def _bury(ground: Ground, batch: int) -> None:
    """Write the tombstone, unless the commit, or another's tombstone, lies there."""
    try:
        await ground.batches.insert_one({"_id": batch, "withdrawn": await ground.now()})
    except DuplicateKeyError:
        return


async def _is_committed(ground: Ground, batch: int) -> bool:
    """Say whether a commit lies there; one that is gone was carried out, so nothing is arriving."""
    called = {"_id": batch, "withdrawn": {"$exists": False}}
    if await ground.batches.find_one(called) is not None:
        return True
    return await ground.schedules.find_one({"firing": batch}, {"_id": 1}) is not None


async def finish_batches(ground: Ground, now: datetime) -> None:
    """Carry out commits whose writer did not live to; withdraw what was never committed."""
    async for said in ground.batches.find({}):
        withdrawn = said.get("withdrawn")
        if withdrawn is None:
            await let_go(ground, said["_id"])
        else:
            await withdraw(ground, said["_id"])
        if withdrawn is None or now - withdrawn > REMEMBERED:
            await ground.batches.delete_one({"_id": said["_id"]})
    old = {"state": ARRIVING, "created_at": {"$lt": now - WITHDRAWN}}
    looked = ground.jobs.find(old, {"batch": 1, "firing_of": 1})
    left = {paper["batch"]: paper.get("firing_of") async for paper in looked}
    for batch, firing_of in left.items():
        await call_off(ground, batch, firing_of=firing_of)
