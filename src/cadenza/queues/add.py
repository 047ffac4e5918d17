"""Adds a post to the queues of one or more accounts: which slot it takes there, and why none before.

Allocation and insert are one transaction under each account's lock; the unique key on (account, slot)
decides in the end, and whoever loses a slot takes the next. Each account gets its own answer: one full
queue does not stop the others. Limit: the search ends 366 days from now.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from operator import itemgetter

from cadenza.core.slots import LEAD, FreeSlot, NoFreeSlot, Passed, Slot
from cadenza.core.zones import Mark, as_utc, local_day
from cadenza.db import audit
from cadenza.deliveries.model import Action, ComposedPost, NewDelivery
from cadenza.deliveries.render import Files
from cadenza.deliveries.schedule import Scheduled, SlotTaken, schedule
from cadenza.posts.compose import compose
from cadenza.posts.model import NoSuchPost
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.posts.targets import BadTarget, Targets, check_targets, set_aside_gone
from cadenza.posts.warnings import find_warnings
from cadenza.queues import store
from cadenza.queues.assign_slots import assign_slots, entries, to_slot
from cadenza.queues.check_slot import Named, check_slot
from cadenza.queues.last_accounts import remember_accounts
from cadenza.queues.model import (
    LIVE,
    Entry,
    Moved,
    NoQueue,
    NoRoom,
    Queue,
    clock_text,
    wall_text,
)
from cadenza.queues.occupancy import Occupancy, first_free
from cadenza.queues.reschedule import is_idle, reschedule
from cadenza.queues.shift import shift
from cadenza.sql.tx import Row, Tx

_NEW = "new"  # stands for the post that is being added, while others make room


class To(StrEnum):
    """Where in the queue; a slot is `Named`, an instant of one's own is given as a datetime."""

    FIRST_FREE = "first_free"
    END = "end"
    NEXT = "next"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """It has an instant on this account, and these are the deliveries that go out then."""

    account_id: str
    ids: tuple[str, ...]
    at: datetime
    zone: str
    wall_time: str  # as the schedule says it
    mark: Mark = Mark.NONE  # `gap`: the clock will show another time
    passed: Passed | None = None  # why not earlier
    moved: tuple[Moved, ...] = ()  # who made room
    revision: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlreadyQueued:
    """The post is on its way by that account already: nothing was changed."""

    account_id: str
    id: str
    state: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Unfit:
    """The account's channel would not take it: nothing was changed there."""

    account_id: str
    refusal: DoesNotFit

    @property
    def message(self) -> str:
        """Say what is wrong and what to do."""
        return self.refusal.message


Part = ComposedPost | Row  # one that is new, or one that was taken back or missed
Answer = Queued | AlreadyQueued | NoRoom | NoQueue | BadTarget | Unfit


@dataclass(frozen=True, slots=True)
class Added:
    """One answer an account, and the earliest instant of all that the post now has."""

    answers: tuple[Answer, ...]
    scheduled_at: datetime | None


def add(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    targets: Targets,
    to: To | Named | datetime = To.FIRST_FREE,
    files: Files | None = None,
) -> Added | NoSuchPost | BadTarget:
    """Compose a post for accounts (or accounts with channels), then queue it there.

    For accounts that nobody named ask `remember.usual_accounts` first; locks: `model.locks` of all.
    """
    able, gone = set_aside_gone(tx, workspace_id, targets)
    bad = check_targets(tx, workspace_id, able)
    if bad is not None:
        return bad
    if gone and not able:
        return Added(gone, None)
    pieces = compose(tx, workspace_id, post_id, able)
    if not pieces:
        return NoSuchPost(post_id)
    added = add_pieces(tx, now, workspace_id=workspace_id, pieces=pieces, by=by, to=to, files=files)
    answers = sorted((*added.answers, *gone), key=lambda each: each.account_id)
    return replace(added, answers=tuple(answers))


def add_pieces(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    pieces: Sequence[ComposedPost],
    by: str,
    to: To | Named | datetime = To.FIRST_FREE,
    files: Files | None = None,
) -> Added:
    """Give a post's pieces an instant on each of their accounts; locks: `model.locks` of those."""
    by_account: dict[str, list[ComposedPost]] = {}
    for piece in pieces:
        by_account.setdefault(piece.account_id, []).append(piece)
    answers = tuple(
        _with_warnings(
            tx,
            now,
            workspace_id,
            by_account[account],
            _add_to(tx, now, workspace_id, account, by_account[account], to=to, by=by, files=files),
        )
        for account in sorted(by_account)
    )
    remember_accounts(tx, now, workspace_id=workspace_id, author=by, accounts=sorted(by_account))
    post_id = pieces[0].post_id if pieces else None
    rows = tx.all(  # SQLite, asked for the least, would walk through the workspace's instants
        f"""
        SELECT due_at FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id AND state IN {LIVE}
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return Added(answers, min((row["due_at"] for row in rows), default=None))


def _with_warnings(
    tx: Tx, now: datetime, workspace_id: str, pieces: Sequence[ComposedPost], answer: Answer
) -> Answer:
    """Say with the place what would hurt there: a stop, a full quota, a token that ends, a repeat."""
    if not isinstance(answer, Queued):
        return answer
    found = find_warnings(tx, now, workspace_id=workspace_id, pieces=pieces, at=answer.at)
    more = (each.message for each in found if each.code != "paused")  # the queue says that itself
    return replace(answer, warnings=tuple(dict.fromkeys((*answer.warnings, *more))))


def _add_to(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    account_id: str,
    pieces: list[ComposedPost],
    *,
    to: To | Named | datetime,
    by: str,
    files: Files | None,
) -> Answer:
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    if not queue.enabled:
        return NoRoom(account_id, "the schedule is switched off: nothing new is allocated")
    there = _there(tx, queue, pieces[0].post_id)
    idle = [row for row in there.values() if is_idle(row, now)]
    missing: list[Part] = [piece for piece in pieces if piece.channel.value not in there]
    if not missing and not idle:
        row = min(there.values(), key=lambda each: each["due_at"])
        return AlreadyQueued(account_id, row["id"], row["state"], row["due_at"])
    going = [
        each for each in pieces if (row := there.get(each.channel.value)) is None or row in idle
    ]
    if unfit := refuse_unfit(tx, workspace_id, going, files):
        return Unfit(account_id, unfit)
    leader = next((row for row in there.values() if row["slot_at"] and row not in idle), None)
    parts = [*idle, *missing]
    if leader is not None and leader["due_at"] > now:
        return _follow(tx, now, queue, parts, leader, by=by)
    match to:
        case To.NEXT:
            return _add_next(tx, now, queue, parts, by=by)
        case To():
            return _add_free(tx, now, queue, parts, at_end=to is To.END, by=by)
        case Named(at):
            return _add_named(tx, now, queue, parts, as_utc(at), by=by)
        case instant:
            return _add_at(tx, now, queue, parts, as_utc(instant), by=by)


def _add_free(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], *, at_end: bool, by: str
) -> Answer:
    not_before = _behind_last(tx, now, queue) if at_end else now
    while True:
        found = first_free(tx, now, queue, not_before=not_before)
        if isinstance(found, NoFreeSlot):
            return NoRoom(queue.account_id, _why_full(found), found.passed)
        ids = _put(tx, now, queue, parts, found.slot)
        if ids is not None:
            return _tell(tx, now, queue, parts, found, ids=ids, by=by)
        # Somebody without the lock was quicker: the key said so, the next slot is ours.
        not_before = found.slot.instant + timedelta(minutes=1)


def _add_next(tx: Tx, now: datetime, queue: Queue, parts: list[Part], *, by: str) -> Answer:
    start = now + LEAD
    newcomer = Entry(_NEW, None, now, None)
    occupancy = Occupancy(tx, queue, moving_since=start)
    places = shift(
        queue,
        occupancy,
        _behind(newcomer, tx, queue, start),
        not_before=start,
        skipped=store.skipped(tx, queue, since=start),
    )
    if places.full or not places.moves:
        return NoRoom(queue.account_id, "there is no slot left for the last post within a year")
    slot = places.moves[0][1]
    pushed = [to_slot(entry, at) for entry, at in places.moves[1:]]
    moved = assign_slots(tx, now, queue, pushed, by=by, why="another post was put first")
    ids = _put(tx, now, queue, parts, slot)
    assert ids is not None, "the queue is held, so the slot that was freed is free"
    return _tell(tx, now, queue, parts, slot, ids=ids, by=by, moved=tuple(moved))


def _behind(first: Entry, tx: Tx, queue: Queue, start: datetime) -> Iterator[Entry]:
    yield first
    yield from entries(tx, queue, since=start)


def _add_named(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], at: datetime, *, by: str
) -> Answer:
    """Take the very slot that was pointed at, or say why it cannot be had."""
    slot = check_slot(tx, now, queue, at)
    if isinstance(slot, NoRoom):
        return slot
    ids = _put(tx, now, queue, parts, slot)
    if ids is None:
        return NoRoom(queue.account_id, "another post holds that slot by now")
    return _tell(tx, now, queue, parts, slot, ids=ids, by=by)


def _add_at(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], at: datetime, *, by: str
) -> Answer:
    """By hand: it holds no slot of the queue and stays where it is put."""
    if at < now:
        return NoRoom(queue.account_id, f"{at.isoformat()} is in the past")
    schedule_ = queue.schedule
    day = Occupancy(tx, queue).seen(local_day(at, schedule_.zone))
    if schedule_.max_per_day is not None and day.posts >= schedule_.max_per_day:
        return NoRoom(
            queue.account_id,
            f"that day has its {schedule_.max_per_day} posts already: choose another day, "
            "or raise the number of posts a day",
        )
    ids = _put_at(tx, now, queue, parts, at, clock_text(at, schedule_))
    warnings = ("another post goes out at the same instant",) if at in day.taken else ()
    return Queued(
        account_id=queue.account_id,
        ids=ids,
        at=at,
        zone=schedule_.zone.name,
        wall_time=clock_text(at, schedule_),
        revision=_note(tx, now, queue, parts, at, by=by),
        warnings=warnings,
    )


def _follow(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], leader: Row, *, by: str
) -> Answer:
    """The post has its place; channels that were missing go out at the same instant."""
    at: datetime = leader["due_at"]
    wall = leader["wall_time"] or clock_text(at, queue.schedule)
    ids = _put_at(tx, now, queue, parts, at, wall)
    return Queued(
        account_id=queue.account_id,
        ids=ids,
        at=at,
        zone=queue.schedule.zone.name,
        wall_time=wall,
        revision=_note(tx, now, queue, parts, at, by=by),
    )


def _put(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], slot: Slot
) -> tuple[str, ...] | None:
    """Give the slot to the first, and its instant to the rest; None when the slot is somebody else's."""
    first, *rest = parts
    at, wall = slot.instant, wall_text(slot)
    if isinstance(first, ComposedPost):
        leader = _delivery(tx, queue, first, at, wall, slot_at=at)
        (answer,) = schedule(tx, now, [leader], fits=True)
        if isinstance(answer, SlotTaken):
            return None
        assert isinstance(answer, Scheduled), "what was there was looked for under the lock"
        first_id = leader.id
    else:
        reschedule(tx, now, queue, [first], at=at, wall=wall, slot_at=at)
        first_id = first["id"]
    return (first_id, *_put_at(tx, now, queue, rest, at, wall))


def _put_at(
    tx: Tx, now: datetime, queue: Queue, parts: list[Part], at: datetime, wall: str
) -> tuple[str, ...]:
    new = [_delivery(tx, queue, part, at, wall) for part in parts if isinstance(part, ComposedPost)]
    old = [part for part in parts if not isinstance(part, ComposedPost)]
    if new:
        schedule(tx, now, new, fits=True)
    if old:
        reschedule(tx, now, queue, old, at=at, wall=wall)
    return (*(row["id"] for row in old), *(each.id for each in new))


def _delivery(
    tx: Tx,
    queue: Queue,
    piece: ComposedPost,
    at: datetime,
    wall: str,
    *,
    slot_at: datetime | None = None,
) -> NewDelivery:
    return NewDelivery(
        id=tx.new_id(),
        workspace_id=queue.workspace_id,
        account_id=queue.account_id,
        channel=piece.channel,
        action=Action.POST,
        due_at=at,
        content=piece.content,
        lane_id=queue.lane_id,
        post_id=piece.post_id,
        approved=piece.approved,
        slot_at=slot_at,
        wall_time=wall,
        zone=queue.schedule.zone.name,
    )


def _tell(
    tx: Tx,
    now: datetime,
    queue: Queue,
    parts: list[Part],
    found: FreeSlot | Slot,
    *,
    ids: tuple[str, ...],
    by: str,
    moved: tuple[Moved, ...] = (),
) -> Queued:
    slot, passed = (found.slot, found.passed) if isinstance(found, FreeSlot) else (found, None)
    return Queued(
        account_id=queue.account_id,
        ids=ids,
        at=slot.instant,
        zone=queue.schedule.zone.name,
        wall_time=wall_text(slot),
        mark=slot.mark,
        passed=passed,
        moved=moved,
        revision=_note(tx, now, queue, parts, slot.instant, by=by),
        warnings=_warnings(queue),
    )


def _warnings(queue: Queue) -> tuple[str, ...]:
    said: list[str] = []
    if queue.paused:
        said.append(f"the queue is paused: {queue.pause_reason or 'no reason given'}")
    if queue.account_state not in ("connected", "expiring"):
        said.append(f"the account is {queue.account_state}: connect it again before then")
    return tuple(said)


def _note(tx: Tx, now: datetime, queue: Queue, parts: list[Part], at: datetime, *, by: str) -> int:
    audit.record(
        tx,
        now,
        workspace_id=queue.workspace_id,
        by=by,
        action="queue.add",
        subject_id=_post_of(parts[0]),
        after={"account": queue.account_id, "at": at.isoformat()},
    )
    return store.rise(tx, now, queue)


def _post_of(part: Part) -> str:
    """Name the post, of a new part or of one that was there."""
    return part.post_id if isinstance(part, ComposedPost) else part["post_id"]


def _there(tx: Tx, queue: Queue, post_id: str) -> dict[str, Row]:
    """Read what the post has on this account already, by channel."""
    rows = tx.all(
        """
        SELECT id, post_id, channel, state, due_at, slot_at, wall_time FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id AND account_id = :account_id
            AND recipient IS NULL AND state NOT IN ('canceled', 'skipped')
        """,
        post_id=post_id,
        **store.key(queue),
    )
    return {row["channel"]: row for row in sorted(rows, key=itemgetter("id"))}


def _behind_last(tx: Tx, now: datetime, queue: Queue) -> datetime:
    last = tx.one(
        f"""
        SELECT slot_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at IS NOT NULL AND state IN {LIVE}
        ORDER BY slot_at DESC LIMIT 1
        """,  # noqa: S608 - put together from constants
        **store.key(queue),
    )
    return now if last is None else max(now, last["slot_at"] + timedelta(minutes=1))


def _why_full(found: NoFreeSlot) -> str:
    if found.no_times:
        return "the schedule has no times: add a slot to the week"
    return (
        "no slot is free within a year: add slots, raise the posts a day, or clear what is queued"
    )
