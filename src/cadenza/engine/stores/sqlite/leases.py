"""Leases: keeping them, and taking back what a silent worker held."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from cadenza.engine.notes import crash_note
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.sqlite.gates import leave
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.settle import ADD_ERROR
from cadenza.engine.stores.sqlite.values import Row, to_instant, to_json

LEASES = 100  # taken back in one transaction
_HELD = "SELECT number FROM lease WHERE number IN (SELECT value FROM json_each(?)) AND worker = ?"
_EXTEND = load("extend_leases")
_CANCELING = load("find_canceling")
_START = load("start")
_EXPIRED = "SELECT number, jobs, started FROM lease WHERE until <= ? ORDER BY number LIMIT ?"
_RUNNING = load("find_running")
_RETURN = """
    UPDATE job SET state = 0, crashes = crashes + ? WHERE id IN (SELECT value FROM json_each(?))
"""
_FORGET = "DELETE FROM lease WHERE number IN (SELECT value FROM json_each(?))"
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
    """Take back the jobs of some leases that ran out; say in which queues they wait again."""
    back: dict[bool, list[int]] = {False: [], True: []}  # by whether they crashed
    returned: list[int] = []
    buried: list[int] = []
    left: Counter[tuple[str, str | None]] = Counter()
    expired = tx.execute(_EXPIRED, (now, LEASES)).fetchall()
    for number, jobs, started in expired:
        for id_, queue, lane, before, cancel, crashed in tx.execute(
            _RUNNING, (jobs, number, started)
        ).fetchall():
            left[queue, lane] += 1
            crashes = before + crashed
            if cancel:
                tx.execute(_END, (Row.CANCELED, crashes, now, id_))
                returned.append(id_)
            elif crashed and crashes >= crash_limit:
                tx.execute(ADD_ERROR, (crash_note(crashes, to_instant(now)), id_))
                tx.execute(_END, (Row.FAILED, crashes, now, id_))
                buried.append(id_)
            else:
                back[bool(crashed)].append(id_)
                returned.append(id_)
    for crashed, ids in back.items():
        tx.execute(_RETURN, (crashed, to_json(ids)))
    leave(tx, now, ((queue, lane, count) for (queue, lane), count in left.items()))
    tx.execute(_FORGET, (to_json([number for number, _, _ in expired]),))
    return Rescue(tuple(returned), tuple(buried)), {queue for queue, _ in left}


def start(tx: sqlite3.Connection, _now: int, jobs: Mapping[int, Sequence[int]]) -> None:
    """Mark jobs as started."""
    tx.executemany(_START, [(number, to_json(ids)) for number, ids in jobs.items()])


def report(tx: sqlite3.Connection, _now: int, id_: int, lease: int, progress: str) -> bool:
    """Write progress under the fence."""
    written = tx.execute(
        "UPDATE job SET progress = ? WHERE id = ? AND lease = ? AND state = 2",
        (progress, id_, lease),
    )
    return written.rowcount == 1
