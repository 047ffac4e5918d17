"""Puts back what `clear` took off a queue, for ten minutes, at the instants that are still free.

Free means what it means to whoever adds: no other post stands there, timed by hand or not, the slot is
not skipped, and the day has room. A post's channels on an account come back together or not at all, one
of them holding the slot. Where the schedule has no slot there any more they are pinned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from cadenza.core.rollup import DeliveryState as State
from cadenza.core.slots import slot_at
from cadenza.core.zones import day_bounds, local_day
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.space_out import together
from cadenza.deliveries.transition import AS_APPROVED, Changes, move_posts
from cadenza.queues import store
from cadenza.queues.clear import UNDO
from cadenza.queues.model import LIVE, NoQueue, Queue, clock_text, wall_text
from cadenza.queues.occupancy import rows_between
from cadenza.sql.tx import Row, Tx

AGAIN = "it was added again meanwhile"
REMOVED = "slot removed"


@dataclass(frozen=True, slots=True)
class Undone:
    """These are back at their instants; these are not, and why."""

    restored: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TooLate:
    """There is nothing to undo, or its ten minutes are over: nothing was changed."""

    message: str


class _RestoredRow(NamedTuple):
    """A row as it comes back."""

    id: str
    slot_at: datetime | None
    wall_time: str | None
    zone: str | None
    pinned: str | None


def undo(tx: Tx, now: datetime, *, workspace_id: str, clear_id: str, by: str) -> Undone | TooLate:
    """Put back what was cleared, where its instant is still free and still to come."""
    cleared = tx.one(
        "SELECT * FROM queue_clear WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=clear_id,
    )
    if cleared is None or cleared["undone_at"] is not None:
        return TooLate("there is nothing to undo" if cleared is None else "it was undone already")
    if now > cleared["cleared_at"] + UNDO:
        return TooLate("ten minutes are over: add the posts to the queue again")
    accounts = undo_accounts(tx, now, workspace_id=workspace_id, clear_id=clear_id)
    for account_id in accounts:
        store.lock_lane(tx, workspace_id=workspace_id, account_id=account_id)
    rows = tx.all(
        """
        SELECT id, account_id, lane_id, post_id, channel, due_at, slot_at, wall_time, zone, pinned
        FROM delivery
        WHERE workspace_id = :workspace_id AND clear_id = :id AND state = 'canceled'
        ORDER BY due_at, id
        """,
        workspace_id=workspace_id,
        id=clear_id,
    )
    back: list[_RestoredRow] = []
    lost: list[tuple[str, str]] = []
    for account_id in accounts:
        own = [row for row in rows if row["account_id"] == account_id]
        queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
        _sort_out(now, _Days.of(tx, workspace_id, account_id, queue, own), own, back, lost)
    _write(tx, now, workspace_id, back)
    lanes.refresh(tx, [(workspace_id, row["lane_id"]) for row in rows])
    tx.run(
        "UPDATE queue_clear SET undone_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=clear_id,
    )
    store.rise_all(tx, now, workspace_id, accounts)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.undo",
        subject_id=clear_id,
        after={"deliveries": len(back)},
    )
    return Undone(tuple(row.id for row in back), tuple(lost))


def undo_accounts(tx: Tx, now: datetime, *, workspace_id: str, clear_id: str) -> list[str]:
    """Name the accounts whose locks `undo` wants."""
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM delivery
        WHERE workspace_id = :workspace_id AND clear_id = :id
        """,
        workspace_id=workspace_id,
        id=clear_id,
    )
    return sorted(row["account_id"] for row in rows)


@dataclass(slots=True)
class _Days:
    """What stands on an account now: who at which instant, how many posts on which day."""

    queue: Queue | NoQueue
    there: list[Row]  # of the cleared posts, what was added again, and may be out by now
    skipped: frozenset[datetime] = frozenset()
    holders: dict[datetime, set[str]] = field(default_factory=dict[datetime, set[str]])
    posts: dict[date, set[str]] = field(default_factory=dict[date, set[str]])

    @classmethod
    def of(
        cls,
        tx: Tx,
        workspace_id: str,
        account_id: str,
        queue: Queue | NoQueue,
        cleared: Sequence[Row],
    ) -> "_Days":
        there = tx.all(
            f"""
            SELECT post_id, channel, due_at, slot_at, state IN {LIVE} AS live
            FROM TABLE(:posts) AS asked (post text) JOIN delivery
                ON delivery.workspace_id = :workspace_id AND delivery.post_id = asked.post
            WHERE account_id = :account_id AND state NOT IN ('canceled', 'skipped')
            """,  # noqa: S608 - put together from constants
            posts=[(post,) for post in sorted({row["post_id"] or "" for row in cleared})],
            workspace_id=workspace_id,
            account_id=account_id,
        )
        days = cls(queue, there)
        if isinstance(queue, Queue) and cleared:
            days._read(tx, queue, [row["slot_at"] or row["due_at"] for row in cleared])
        return days

    def _read(self, tx: Tx, queue: Queue, instants: Sequence[datetime]) -> None:
        zone = queue.schedule.zone
        start = day_bounds(local_day(min(instants), zone), zone)[0]
        end = day_bounds(local_day(max(instants), zone), zone)[1]
        self.skipped = store.skipped(tx, queue, since=start)
        for row in rows_between(tx, queue, start, end):
            post = _post(row)
            self.posts.setdefault(local_day(row["due_at"], zone), set()).add(post)
            if row["state"] != "sent":
                for at in {row["due_at"], row["slot_at"]} - {None}:
                    self.holders.setdefault(at, set()).add(post)

    def _slots(self, post: str) -> set[datetime | None]:
        """Read off which slots a post holds by now."""
        return {row["slot_at"] for row in self.there if row["live"] and row["post_id"] == post}

    def why_not(self, now: datetime, group: Sequence[Row]) -> str | None:
        """Say why a post's channels cannot come back to their instant."""
        first, at = group[0], _instant(group)
        if first["due_at"] <= now:
            return "its time has passed"
        queued = any(row["slot_at"] is not None for row in group)
        if queued and self._slots(_post(first)) - {None, at}:
            return AGAIN
        if self.holders.get(at, set()) - {_post(first)}:
            return "its slot was taken meanwhile" if queued else "its time was taken meanwhile"
        if queued and at in self.skipped:
            return "its slot is skipped by now"
        if isinstance(self.queue, Queue):
            day = self.posts.setdefault(local_day(at, self.queue.schedule.zone), set())
            most = self.queue.schedule.max_per_day
            if most is not None and len(day - {_post(first)}) >= most:
                return f"its day has its {most} posts by now"
            day.add(_post(first))
        return None

    def as_was(self, group: Sequence[Row]) -> list[_RestoredRow]:
        """Say how each comes back: one holds the slot, if the schedule has it still."""
        at = _instant(group)
        leader = next((row for row in group if row["slot_at"] is not None), None)
        if leader is None:  # timed by hand, or pinned before
            return [
                _RestoredRow(r["id"], None, r["wall_time"], r["zone"], r["pinned"]) for r in group
            ]
        if isinstance(self.queue, NoQueue):
            return [_RestoredRow(r["id"], None, r["wall_time"], r["zone"], REMOVED) for r in group]
        schedule = self.queue.schedule
        slot, zone = slot_at(schedule, at), schedule.zone.name
        if slot is None:
            wall = clock_text(group[0]["due_at"], schedule)
            return [_RestoredRow(row["id"], None, wall, zone, REMOVED) for row in group]
        led = at in self._slots(_post(leader))
        return [
            _RestoredRow(
                row["id"], at if row is leader and not led else None, wall_text(slot), zone, None
            )
            for row in group
        ]


def _sort_out(
    now: datetime,
    days: _Days,
    rows: Sequence[Row],
    back: list[_RestoredRow],
    lost: list[tuple[str, str]],
) -> None:
    """Part an account's cleared rows, a post's channels together, into what comes back and what does not."""
    there = {(row["post_id"], row["channel"]) for row in days.there}
    for group in together(rows):
        again = [row for row in group if (row["post_id"], row["channel"]) in there]
        lost += [(row["id"], AGAIN) for row in again]
        left = _led([row for row in group if row not in again], group)
        why = days.why_not(now, left) if left else None
        if why is not None:
            lost += [(row["id"], why) for row in left]
        elif left:
            back += days.as_was(left)


def _led(left: list[Row], group: Sequence[Row]) -> list[Row]:
    """Let another channel lead where the one that led is there again."""
    at = next((row["slot_at"] for row in group if row["slot_at"] is not None), None)
    if at is None or not left or any(row["slot_at"] is not None for row in left):
        return left
    return [left[0] | {"slot_at": at}, *left[1:]]


def _write(tx: Tx, now: datetime, workspace_id: str, back: Sequence[_RestoredRow]) -> None:
    changes = {
        row.id: Changes(
            slot_at=row.slot_at,
            wall_time=row.wall_time,
            zone=row.zone,
            pinned=row.pinned,
            reason=None,
            clear_id=None,
        )
        for row in back
    }
    was = (State.CANCELED,)
    move_posts(tx, now, workspace_id, changes, was=was, to=AS_APPROVED)


def _post(row: Row) -> str:
    return row["post_id"] or row["id"]


def _instant(group: Sequence[Row]) -> datetime:
    """Return the slot that one of them held, else their time."""
    held = (row["slot_at"] for row in group if row["slot_at"] is not None)
    return next(held, group[0]["due_at"])
