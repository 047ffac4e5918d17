"""A backup that is put back: every process ends, the database is as it was, and everything starts again.

What people were promised since the backup is gone with it, and so is what the database knew of calls made
since: that is what a restore costs. What must hold: nothing leaves before a person has confirmed, and nothing
that left since the backup leaves again by itself. The witness outside of the database is one for all hosts,
as on one machine. Not judged: a restore that the witness cannot know of, and what the restored database has
planned for later although it is out (sent before its time, or by a clock that was set back since).
"""

import asyncio
from collections.abc import Callable
from functools import partial

from cadenza.deliveries.installation import LOCK, RESTORE, confirm, read_signs
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations
from tests.simulation.people import People, seconds_of
from tests.simulation.stage import Lost, Stage


async def go_back(
    world: Stage, people: People, operations: Operations, restart: Callable[[], None]
) -> None:
    """Make a backup, put it back some minutes later, look around, confirm."""
    tape = world.tape
    await asyncio.sleep(30 + tape.seconds(200))
    at, rows = world.now(), world.database.copy()
    world.tell("backup", "is made")
    await asyncio.sleep(70 + tape.seconds(150))
    while _epoch(world) <= (_known(rows) or 0) or world.jumped:
        await asyncio.sleep(20)  # nobody could tell, or it is the clock's turn
        if world.healed_at is not None:
            return
    if world.healed_at is not None:
        return
    world.lost = _lose(world, at)
    world.era += 1
    world.waits_for_word = world.closed = True
    world.database.put_back(rows)
    _forget(world, people)
    world.tell("backup", f"is put back: what happened since {at:.0f} s is forgotten")
    restart()
    await _confirm(world, operations)


async def _confirm(world: Stage, operations: Operations) -> None:
    """Look at what is held, for a while, then say that all is well."""
    while world.waits_for_word and world.healed_at is None:
        await asyncio.sleep(20 + world.tape.seconds(100))
        try:
            signs = await operations.read(read_signs)
            if signs is None or signs.hold is None or signs.hold.kind != RESTORE:
                continue
            world.waits_for_word = False  # from here on it is a person's word
            say = partial(confirm, by="operator", witness=world.witness)
            await operations.run(say, locks=[LOCK])
            world.tell("people", "the operator confirmed the restore")
        except SqlError:
            continue


def _epoch(world: Stage) -> int:
    return 0 if world.witness is None else world.witness.epoch


def _known(rows: dict[str, list[dict[str, object]]]) -> int | None:
    return next((int(str(row["epoch"])) for row in rows["installation"]), None)


def _lose(world: Stage, since: float) -> Lost:
    """Note what the backup does not know: calls, and deliveries."""
    calls = {n for n, wire in enumerate(world.wires) if wire.called >= since}
    ids = {id_ for (id_,) in world.raw.execute("SELECT id FROM delivery").fetchall()}
    return Lost(since, world.now(), calls, ids)


def _forget(world: Stage, people: People) -> None:
    """Let people know only of what the database has again; and what was sent before its time."""
    assert world.lost is not None
    rows = {
        id_: (state, due)
        for id_, state, due in world.raw.execute("SELECT id, state, due_at FROM delivery")
    }
    world.lost.ids -= rows.keys()
    for id_ in [id_ for id_ in people.promised if id_ not in rows]:
        del people.promised[id_]
    for id_, promised in people.promised.items():
        promised.canceled = promised.canceled and rows[id_][0] == "canceled"
    for n in world.lost.calls:
        wire = world.wires[n]
        state, due = rows.get(wire.delivery, ("", 0))
        world.lost.called.add(wire.delivery)
        if state == "scheduled" and seconds_of(due) > wire.stored:
            world.lost.early.add(wire.delivery)
    note_planned(world)


def note_planned(world: Stage) -> None:
    """Note what is out and yet lies ahead by the clock as it is now: nobody can know of that."""
    assert world.lost is not None
    ahead = world.raw.execute(
        "SELECT id, due_at FROM delivery WHERE state = 'scheduled' AND leased_until IS NULL"
    )
    planned = {id_ for id_, due in ahead if seconds_of(due) > world.stored()}
    world.lost.early |= planned & world.lost.called
