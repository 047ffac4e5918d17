"""Leaves slots out: an exception row for one instant, shown, removable, over when the instant has passed.

`skip_next` takes the next free slot; pressed again while one is pending it changes nothing, unless a
count is given. `skip` names instants: a post that stands there, and those behind it, move one slot on.
What is in a worker's hands or timed by hand stays where it is and is said to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.slots import NoFreeSlot, slot_at
from cadenza.core.zones import as_utc, local_day
from cadenza.db import audit
from cadenza.queues import store
from cadenza.queues.assign_slots import assign_slots, entries, to_slot
from cadenza.queues.model import Moved, NoQueue, NoRoom, Queue, clock_text
from cadenza.queues.occupancy import Occupancy, first_free
from cadenza.queues.shift import shift
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Skip:
    """One slot that is left out."""

    at: datetime
    wall_time: str
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """These are left out now (or were already: `fresh` is false), and who moved for it."""

    skips: tuple[Skip, ...]
    moved: tuple[Moved, ...]
    revision: int
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class NotASlot:
    """These instants cannot be skipped, and why: nothing was changed."""

    instants: tuple[datetime, ...]
    message: str


def list_skips(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> list[Skip]:
    """Read what is left out from now on, in order."""
    queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
    return [] if isinstance(queue, NoQueue) else _pending(tx, now, queue)


def skip_next(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    reason: str | None = None,
    count: int | None = None,
) -> Skipped | NoRoom | NoQueue:
    """Leave out the next free slot, or the next `count` of them."""
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    pending = _pending(tx, now, queue)
    if pending and count is None:
        return Skipped(tuple(pending), (), queue.revision, fresh=False)
    chosen: list[datetime] = []
    for _ in range(count or 1):
        behind = chosen[-1] + timedelta(minutes=1) if chosen else None
        found = first_free(tx, now, queue, not_before=behind)
        if isinstance(found, NoFreeSlot):
            return NoRoom(account_id, "there is no free slot to skip within a year", found.passed)
        chosen.append(found.slot.instant)
    return _write(tx, now, queue, chosen, by=by, reason=reason)


def skip(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    instants: Sequence[datetime],
    by: str,
    reason: str | None = None,
) -> Skipped | NotASlot | NoRoom | NoQueue:
    """Leave out named slots; the posts that stand there move on, each with those behind it."""
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    named = sorted({as_utc(instant) for instant in instants})
    wrong = tuple(at for at in named if at <= now or slot_at(queue.schedule, at) is None)
    if wrong:
        return NotASlot(wrong, "these are no coming slots of the schedule")
    stuck = tuple(at for at in named if _stuck(tx, queue, at, now))
    if stuck:
        return NotASlot(stuck, "what stands there is timed by hand or on its way, and stays")
    return _write(tx, now, queue, named, by=by, reason=reason)


def unskip(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    instants: Sequence[datetime] | None = None,
) -> Skipped | NoQueue:
    """Offer slots again, by default all; what moved for them stays where it is now."""
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    pending = _pending(tx, now, queue)
    wanted = None if instants is None else {as_utc(instant) for instant in instants}
    gone = [each for each in pending if wanted is None or each.at in wanted]
    if not gone:
        return Skipped((), (), queue.revision, fresh=False)
    tx.run(
        """
        DELETE FROM queue_skip
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at IN (SELECT slot_at FROM TABLE(:gone) AS gone (slot_at timestamptz))
        """,
        gone=[(each.at,) for each in gone],
        **store.key(queue),
    )
    _audit(tx, now, queue, "queue.unskip", [each.at for each in gone], by=by)
    return Skipped(tuple(gone), (), store.rise(tx, now, queue))


def _write(
    tx: Tx,
    now: datetime,
    queue: Queue,
    instants: Sequence[datetime],
    *,
    by: str,
    reason: str | None,
) -> Skipped | NoRoom:
    pushed = _push(tx, now, queue, instants, by=by)
    if pushed is None:
        return NoRoom(queue.account_id, "there is no slot left to move the posts to")
    tx.run(
        """
        INSERT INTO queue_skip (workspace_id, account_id, slot_at, skipped_by, reason, created_at)
        SELECT :workspace_id, :account_id, slot_at, :by, :reason, :now
        FROM TABLE(:new) AS new (slot_at timestamptz) WHERE true
        ON CONFLICT (workspace_id, account_id, slot_at) DO NOTHING
        """,
        new=[(at,) for at in instants],
        by=by,
        reason=reason,
        now=now,
        **store.key(queue),
    )
    _audit(tx, now, queue, "queue.skip", instants, by=by)
    made = tuple(Skip(at, clock_text(at, queue.schedule), by, reason) for at in instants)
    return Skipped(made, tuple(pushed), store.rise(tx, now, queue))


def _push(
    tx: Tx, now: datetime, queue: Queue, instants: Sequence[datetime], *, by: str
) -> list[Moved] | None:
    """Move what stands at these instants, and as many behind as must; None when there is no room."""
    first = min(instants)
    places = shift(
        queue,
        Occupancy(tx, queue, moving_since=first),
        entries(tx, queue, since=first),
        not_before=first,
        skipped=store.skipped(tx, queue, since=now) | frozenset(instants),
        through=max(instants),
    )
    if places.full:
        return None
    moves = [to_slot(entry, slot) for entry, slot in places.moves]
    return assign_slots(tx, now, queue, moves, by=by, why="a slot is skipped")


def _stuck(tx: Tx, queue: Queue, at: datetime, now: datetime) -> bool:
    staying = Occupancy(tx, queue, moving_since=now)
    return at in staying.taken(local_day(at, queue.schedule.zone))


def _pending(tx: Tx, now: datetime, queue: Queue) -> list[Skip]:
    rows = tx.all(
        """
        SELECT slot_at, skipped_by, reason FROM queue_skip
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND slot_at > :now
        ORDER BY slot_at
        """,
        now=now,
        **store.key(queue),
    )
    return [
        Skip(r["slot_at"], clock_text(r["slot_at"], queue.schedule), r["skipped_by"], r["reason"])
        for r in rows
    ]


def _audit(
    tx: Tx, now: datetime, queue: Queue, action: str, instants: Sequence[datetime], *, by: str
) -> None:
    audit.record(
        tx,
        now,
        workspace_id=queue.workspace_id,
        by=by,
        action=action,
        subject_id=queue.account_id,
        after={"instants": [at.isoformat() for at in instants]},
    )
