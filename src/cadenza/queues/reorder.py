"""Changes who holds which instant of a queue; the set of held instants stays as it is.

A whole order, a move before or after another, to the top, a swap, a shuffle by a seed, a reversal: all
are one permutation, written in two statements whatever its size. The caller names the revision that was
on the screen; an older one changes nothing and is answered with the present order. What is on its way or
timed by hand stays and is reported; an id that is not of this queue refuses the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.ids import SeededRandom
from cadenza.db import audit
from cadenza.queues import store
from cadenza.queues.assign_slots import ALL, assign_slots, entries
from cadenza.queues.model import Entry, Moved, NoQueue, Queue
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class NotMoved:
    """One that was named and does not move, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Reordered:
    """Done: who moved, who stays though named."""

    moved: tuple[Moved, ...]
    stays: tuple[NotMoved, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class Stale:
    """The queue was changed since that revision: nothing was changed, this is its order now."""

    revision: int
    order: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """These are not of this queue, or named twice: nothing was changed."""

    ids: tuple[str, ...]
    message: str


Answer = Reordered | Stale | Unknown | NoQueue


def reorder(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    ids: Sequence[str],
    revision: int,
    by: str,
) -> Answer:
    """Put deliveries (or posts, by their ids) in this order; those not named keep their instants."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    line = list(entries(tx, queue, page=ALL))
    chosen = _choose(tx, queue, line, ids)
    if isinstance(chosen, Unknown):
        return chosen
    wanted, stays = chosen
    return _permute(tx, now, queue, wanted, by=by, verb="order", stays=stays)


def move(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    id: str,
    by: str,
    before: str | None = None,
    after: str | None = None,
    revision: int | None = None,
) -> Answer:
    """Put one right before or right after another; those between make room."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    anchor = before if before is not None else after
    if anchor is None or (before is not None and after is not None):
        return Unknown((), "say before which or after which post, one of the two")
    line = list(entries(tx, queue, page=ALL))
    chosen = _choose(tx, queue, line, [id, anchor])
    if isinstance(chosen, Unknown):
        return chosen
    (wanted, stays) = chosen
    if stays:
        return Reordered((), stays, queue.revision)
    moving, anchored = wanted
    rest = [entry for entry in line if entry != moving]
    at = rest.index(anchored) + (0 if before is not None else 1)
    return _permute(tx, now, queue, [*rest[:at], moving, *rest[at:]], by=by, verb="move")


def to_top(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    id: str,
    by: str,
    revision: int | None = None,
) -> Answer:
    """Put one first; those that were before it make room."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    line = list(entries(tx, queue, page=ALL))
    chosen = _choose(tx, queue, line, [id])
    if isinstance(chosen, Unknown):
        return chosen
    wanted, stays = chosen
    rest = [entry for entry in line if entry not in wanted]
    return _permute(tx, now, queue, [*wanted, *rest], by=by, verb="top", stays=stays)


def swap(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    ids: tuple[str, str],
    by: str,
    revision: int | None = None,
) -> Answer:
    """Let two change places."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    chosen = _choose(tx, queue, list(entries(tx, queue, page=ALL)), ids)
    if isinstance(chosen, Unknown):
        return chosen
    wanted, stays = chosen
    if stays:
        return Reordered((), stays, queue.revision)
    turned = sorted(wanted, key=lambda entry: entry.at, reverse=True)
    return _permute(tx, now, queue, turned, by=by, verb="swap")


def shuffle(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    seed: int | str,
    by: str,
    revision: int | None = None,
) -> Answer:
    """Mix the queue; the same seed over the same queue gives the same order."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    line = list(entries(tx, queue, page=ALL))
    rng = SeededRandom(seed)
    for last in range(len(line) - 1, 0, -1):
        other = int(rng.fraction() * (last + 1))
        line[last], line[other] = line[other], line[last]
    return _permute(tx, now, queue, line, by=by, verb="shuffle")


def reverse(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    revision: int | None = None,
) -> Answer:
    """Turn the queue round."""
    queue = _begin(tx, workspace_id, account_id, revision)
    if not isinstance(queue, Queue):
        return queue
    line = list(entries(tx, queue, page=ALL))
    return _permute(tx, now, queue, line[::-1], by=by, verb="reverse")


def _begin(
    tx: Tx, workspace_id: str, account_id: str, revision: int | None
) -> Queue | Stale | NoQueue:
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, Queue) and revision is not None and revision != queue.revision:
        return Stale(queue.revision, tuple(entries(tx, queue, page=ALL)))
    return queue


def _choose(
    tx: Tx, queue: Queue, line: Sequence[Entry], ids: Sequence[str]
) -> tuple[list[Entry], tuple[NotMoved, ...]] | Unknown:
    """Find what was named among what may move; say of the rest why it stays."""
    named = {entry.post_id: entry for entry in line} | {entry.id: entry for entry in line}
    named |= {follower: entry for entry in line for follower in entry.followers}
    wanted = [named[id_] for id_ in ids if id_ in named]
    if len({entry.id for entry in wanted}) < len(wanted) or len(set(ids)) < len(ids):
        return Unknown(tuple(ids), "each post may be named once")
    others = [id_ for id_ in ids if id_ not in named]
    known = _known(tx, queue, others)
    unknown = tuple(id_ for id_ in others if id_ not in known)
    if unknown:
        return Unknown(unknown, "these are not in this account's queue: look at it again")
    return wanted, tuple(NotMoved(id_, _why(known[id_])) for id_ in others)


def _known(tx: Tx, queue: Queue, ids: Sequence[str]) -> dict[str, Row]:
    if not ids:
        return {}
    rows = tx.all(
        """
        SELECT asked.id AS name, delivery.state, delivery.slot_at, delivery.leased_until
        FROM TABLE(:ids) AS asked (id text) JOIN delivery
            ON delivery.workspace_id = :workspace_id AND delivery.id = asked.id
        WHERE delivery.account_id = :account_id
        UNION ALL
        SELECT asked.id AS name, delivery.state, delivery.slot_at, delivery.leased_until
        FROM TABLE(:ids) AS asked (id text) JOIN delivery
            ON delivery.workspace_id = :workspace_id AND delivery.post_id = asked.id
        WHERE delivery.account_id = :account_id
        """,
        ids=[(id_,) for id_ in ids],
        **store.key(queue),
    )
    return {row["name"]: row for row in rows}


def _why(row: Row) -> str:
    if row["state"] in ("draft", "scheduled") and row["leased_until"] is None:
        return "it is timed by hand" if row["slot_at"] is None else "it is being tried again"
    return "it is on its way" if row["leased_until"] is not None else f"it is {row['state']}"


def _permute(
    tx: Tx,
    now: datetime,
    queue: Queue,
    wanted: Sequence[Entry],
    *,
    by: str,
    verb: str,
    stays: tuple[NotMoved, ...] = (),
) -> Reordered:
    """Deal the instants that these hold out to them again, in this order."""
    held = sorted((entry.at, entry.wall_time) for entry in wanted)
    dealt = zip(wanted, held, strict=True)
    moves = [(entry, at, wall) for entry, (at, wall) in dealt if at != entry.at]
    moved = tuple(assign_slots(tx, now, queue, moves, by=by, why="the queue got another order"))
    if not moved:
        return Reordered((), stays, queue.revision)
    audit.record(
        tx,
        now,
        workspace_id=queue.workspace_id,
        by=by,
        action="queue.reorder",
        subject_id=queue.account_id,
        after={"how": verb, "moved": len(moved)},
    )
    return Reordered(moved, stays, store.rise(tx, now, queue))
