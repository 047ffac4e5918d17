"""Gives queued posts other instants: what may move, how followers go along, and the two statements.

A permutation cannot be written row by row under a unique key, so the slots are freed in one statement
and given in the next, however many rows. What a worker holds, what is being retried and what a person
timed by hand does not move. Each move is written to its post's history, with who moved it and why. Limit:
the caller holds the queue (`keep.hold`), else a claim comes between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from cadenza.core.slots import Slot
from cadenza.deliveries import lanes
from cadenza.deliveries.history import record_moves
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues import store
from cadenza.queues.model import LIVE, Entry, Moved, Queue, wall_text
from cadenza.queues.occupancy import MAY_MOVE
from cadenza.sql.tx import Row, Tx

PAGE = 500
ALL = 20_000
Move = tuple[Entry, datetime, str | None]  # whose, to which instant, by which wall time


def to_slot(entry: Entry, slot: Slot) -> Move:
    """Say that an entry goes to a slot of the schedule."""
    return entry, slot.instant, wall_text(slot)


def entries(
    tx: Tx,
    queue: Queue,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    page: int = PAGE,
) -> Iterator[Entry]:
    """Read what may move, in the queue's order, page by page: who stops early reads little."""
    beyond = (since or _EARLIEST) - _TICK
    while found := _page(tx, queue, beyond, until or _LATEST, page):
        yield from found
        if len(found) < page:
            return
        beyond = found[-1].at


def _page(tx: Tx, queue: Queue, beyond: datetime, until: datetime, page: int) -> list[Entry]:
    leaders = tx.all(
        f"""
        SELECT id, post_id, slot_at, wall_time FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at IS NOT NULL AND state IN {LIVE} AND slot_at > :beyond AND slot_at <= :until
            AND {MAY_MOVE.format("delivery")}
        ORDER BY slot_at LIMIT :page
        """,  # noqa: S608 - put together from constants
        beyond=beyond,
        until=until,
        page=page,
        **store.key(queue),
    )
    if not leaders:
        return []
    with_them = _followers(tx, queue, leaders[0]["slot_at"], leaders[-1]["slot_at"])
    return [
        Entry(
            row["id"],
            row["post_id"],
            row["slot_at"],
            row["wall_time"],
            tuple(with_them.get((row["post_id"], row["slot_at"]), ())),
        )
        for row in leaders
    ]


def _followers(
    tx: Tx, queue: Queue, first: datetime, last: datetime
) -> dict[tuple[str, datetime], list[str]]:
    rows = tx.all(
        """
        SELECT id, post_id, due_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND due_at >= :first AND due_at <= :last AND state IN ('draft', 'scheduled')
            AND slot_at IS NULL AND pinned IS NULL AND post_id IS NOT NULL AND leased_until IS NULL
        ORDER BY id
        """,
        first=first,
        last=last,
        **store.key(queue),
    )
    found: dict[tuple[str, datetime], list[str]] = {}
    for row in rows:
        found.setdefault((row["post_id"], row["due_at"]), []).append(row["id"])
    return found


def assign_slots(
    tx: Tx,
    now: datetime,
    queue: Queue,
    moves: Sequence[Move],
    *,
    by: str,
    why: str | Mapping[str, str] | None,
    reason: str | Mapping[str, str] | None = None,
) -> list[Moved]:
    """Give each entry and its followers an instant and the slot there; return whose changed.

    `why` goes into each post's history (or, by the entry's id, one for each); None: the caller writes it.
    `reason` shows on the rows (of an entry and its followers; by the entry's id, one for each).
    """
    if not moves:
        return []
    zone = queue.schedule.zone.name
    changes = {id_: each for move in moves for id_, each in _changes(*move, zone, reason)}
    move_posts(tx, now, queue.workspace_id, changes)
    lanes.refresh(tx, [(queue.workspace_id, queue.lane_id)])
    moved = [Moved(e.id, e.post_id, e.at, at) for e, at, _ in moves if at != e.at]
    if why is not None:
        record_moves(tx, now, moved, by=by, why=why, **store.key(queue))
    return moved


def _changes(
    entry: Entry, at: datetime, wall: str | None, zone: str, reason: str | Mapping[str, str] | None
) -> Iterable[tuple[str, Changes]]:
    text = reason.get(entry.id) if isinstance(reason, Mapping) else reason
    shown = None if text is None else Reason.of(Code.MOVED, message=text)
    for id_ in (entry.id, *entry.followers):
        yield (
            id_,
            Changes(
                due_at=at,
                slot_at=at if id_ == entry.id else None,
                wall_time=wall,
                zone=zone,
                pinned=None,
                reason=shown,
            ),
        )


def being_sent(tx: Tx, queue: Queue, *, since: datetime) -> list[Row]:
    """Read what holds a slot and cannot move: in a worker's hands, unconfirmed, or being retried."""
    return tx.all(
        f"""
        SELECT id, post_id, state, slot_at, due_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at IS NOT NULL AND state IN {LIVE} AND slot_at >= :since
            AND (state IN ('sending', 'unconfirmed') OR leased_until IS NOT NULL OR due_at <> slot_at)
        ORDER BY slot_at
        """,  # noqa: S608 - put together from constants
        since=since,
        **store.key(queue),
    )


_TICK = timedelta(microseconds=1)
_EARLIEST = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_LATEST = datetime.fromisoformat("2200-01-01T00:00:00+00:00")
