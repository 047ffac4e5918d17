"""What people do to jobs: cancel, revive; and what time does to them: prune."""

import sqlite3
from collections.abc import Sequence

from cadenza.engine.notes import cancel_note
from cadenza.engine.store import Changed
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.settle import ADD_ERROR
from cadenza.engine.stores.sqlite.values import Row, to_instant

_LOOK = "SELECT state, queue, cancel_requested FROM job WHERE id = ?"
_CANCEL = "UPDATE job SET state = 6, finished_at = ?, unique_while = NULL WHERE id = ?"
_REQUEST = "UPDATE job SET cancel_requested = 1 WHERE id = ?"
_GO_NOW = "UPDATE job SET state = 0, run_at = min(run_at, ?) WHERE id = ?"
_REVIVE = load("revive")
_PRUNE = load("prune")
# A throttle is over at its instant; a pace is kept a day longer, for jobs dated a little back.
_FORGET = "DELETE FROM marker WHERE at < ? - CASE kind WHEN 'pace' THEN 86400000000 ELSE 0 END"


def cancel(tx: sqlite3.Connection, now: int, ids: Sequence[int], reason: str) -> list[Changed]:
    """Cancel waiting jobs at once, ask for running ones."""
    return [_cancel_one(tx, now, id_, reason) for id_ in ids]


def _cancel_one(tx: sqlite3.Connection, now: int, id_: int, reason: str) -> Changed:
    state, _, requested = tx.execute(_LOOK, (id_,)).fetchone() or (None, None, None)
    if state is None:
        return "unknown"
    if state > Row.CRASHED:
        return "unchanged"
    note = cancel_note(reason, to_instant(now))
    if state == Row.RUNNING:
        if not requested:
            tx.execute(_REQUEST, (id_,))
            tx.execute(ADD_ERROR, (note, id_))
        return "requested"
    tx.execute(ADD_ERROR, (note, id_))
    tx.execute(_CANCEL, (now, id_))
    return "changed"


def revive(tx: sqlite3.Connection, now: int, ids: Sequence[int]) -> tuple[list[Changed], set[str]]:
    """Let finished jobs wait again and waiting ones go now; say in which queues."""
    answers: list[Changed] = []
    queues: set[str] = set()
    for id_ in ids:
        state, queue, _ = tx.execute(_LOOK, (id_,)).fetchone() or (None, "", None)
        if state is None:
            answers.append("unknown")
        elif state == Row.RUNNING:
            answers.append("unchanged")
        else:
            tx.execute(_REVIVE if state > Row.CRASHED else _GO_NOW, (now, id_))
            queues.add(queue)
            answers.append("changed")
    return answers, queues


def prune(tx: sqlite3.Connection, now: int, *, done: int, failed: int, limit: int) -> int:
    """Forget what finished longer ago than these spans, some at a time."""
    tx.execute(_FORGET, (now,))
    values = (now - done, limit, now - failed, limit, limit)
    return tx.execute(_PRUNE, values).rowcount
