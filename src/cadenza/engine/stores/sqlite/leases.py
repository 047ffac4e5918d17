"""Leases: keeping them, and taking back what a silent worker held."""

import sqlite3
from collections.abc import Sequence

from cadenza.engine.notes import crash_note
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.sqlite.gates import leave
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.settle import ADD_ERROR
from cadenza.engine.stores.sqlite.values import Row, to_instant, to_json

_HELD = "SELECT number FROM lease WHERE number IN (SELECT value FROM json_each(?)) AND worker = ?"
_EXTEND = load("extend_leases")
_CANCELING = load("find_canceling")
_EXPIRED = "SELECT number, jobs FROM lease WHERE until <= ? ORDER BY number"
_RUNNING = load("find_running")
_RETURN = "UPDATE job SET state = 0, crashes = ? WHERE id = ?"
_END = "UPDATE job SET state = ?, crashes = ?, finished_at = ?, unique_while = NULL WHERE id = ?"


def renew(
    tx: sqlite3.Connection, now: int, worker: str, leases: Sequence[int], length: int
) -> Renewal:
    """Extend what this worker still holds; a lease that has run out counts until it is rescued."""
    numbers = to_json(leases)
    tx.execute(_EXTEND, (now + length, numbers, worker))
    held = {number for (number,) in tx.execute(_HELD, (numbers, worker))}
    cancel = {id_ for (id_,) in tx.execute(_CANCELING, (to_json(sorted(held)),))}
    return Renewal(frozenset(set(leases) - held), frozenset(cancel))


def rescue(tx: sqlite3.Connection, now: int, crash_limit: int) -> tuple[Rescue, set[str]]:
    """Take back the jobs of leases that ran out; say in which queues they wait again."""
    returned: list[int] = []
    buried: list[int] = []
    queues: set[str] = set()
    for number, jobs in tx.execute(_EXPIRED, (now,)).fetchall():
        for id_, queue, lane, crashes, canceled in tx.execute(_RUNNING, (jobs, number)).fetchall():
            leave(tx, now, [(queue, lane, 1)])
            queues.add(queue)
            if canceled:
                tx.execute(_END, (Row.CANCELED, crashes, now, id_))
                returned.append(id_)
            elif crashes >= crash_limit:
                tx.execute(ADD_ERROR, (crash_note(crashes, to_instant(now)), id_))
                tx.execute(_END, (Row.FAILED, crashes, now, id_))
                buried.append(id_)
            else:
                tx.execute(_RETURN, (crashes, id_))
                returned.append(id_)
        tx.execute("DELETE FROM lease WHERE number = ?", (number,))
    return Rescue(tuple(returned), tuple(buried)), queues


def report(tx: sqlite3.Connection, _now: int, id_: int, lease: int, progress: str) -> bool:
    """Write progress under the fence."""
    written = tx.execute(
        "UPDATE job SET progress = ? WHERE id = ? AND lease = ? AND state = 2",
        (progress, id_, lease),
    )
    return written.rowcount == 1
