"""A queue as a screen shows it: days with their slots, filled, empty, skipped, capped or held.

Everything comes from the schedule and one reading of the days asked for, so a screen and an allocation
cannot disagree. Paged by days: the next page begins with `next_day`. Hand-timed and pinned posts stand
between the slots at their own instants.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

import msgspec

from cadenza.core.slots import LEAD, Slot, slots_of
from cadenza.core.zones import Mark, day_bounds, local_day
from cadenza.deliveries.resume_plan import CAN_SEND, count_held
from cadenza.posts.excerpts import excerpts
from cadenza.queues import store
from cadenza.queues.model import NoQueue, Queue, clock_text, wall_text
from cadenza.queues.occupancy import rows_between
from cadenza.sql.tx import Row, Tx

DAYS = 14
MOST_DAYS = 92


class Kind(StrEnum):
    """What stands at an instant."""

    FILLED = "filled"
    EMPTY = "empty"
    SKIPPED = "skipped"
    CAPPED = "capped"  # free, but its day is full
    HELD = "held"  # due, and something keeps it from going
    BY_HAND = "by_hand"
    PINNED = "pinned"  # its slot is gone
    SENDING = "sending"
    SENT = "sent"
    PAST = "past"  # an empty slot that is over


_OUT = (Kind.SENDING, Kind.SENT)  # what is on its way or out is settled elsewhere


class SlotLine(msgspec.Struct, frozen=True):
    """One instant of a day; a screen has hundreds, so it is the cheapest kind of value."""

    at: datetime
    wall_time: str
    kind: Kind
    mark: Mark = Mark.NONE
    post_id: str | None = None
    ids: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    state: str | None = None
    note: str | None = None
    text: str | None = None  # how the post begins
    unfit: str | None = None  # why a channel would refuse it


@dataclass(frozen=True, slots=True)
class Day:
    """One local date: how many posts count, how many may, and its lines in order."""

    day: date
    posts: int
    max_per_day: int | None
    blackout: bool
    lines: tuple[SlotLine, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A page of days, with what the head of the screen needs."""

    revision: int
    zone: str
    now_there: str
    paused: bool
    pause_reason: str | None
    paused_until: datetime | None
    account_state: str
    enabled: bool
    to_resume: int  # posts that came due while the account was disconnected
    next_send: datetime | None  # None: nothing is planned, or nothing goes until a person acts
    days: tuple[Day, ...]
    next_day: date


def show(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    from_day: date | None = None,
    days: int = DAYS,
    words: bool = True,
) -> View | NoQueue:
    """Show some days of a queue, from today on unless said otherwise; with how its posts begin, or not."""
    queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    zone = queue.schedule.zone
    first = from_day or local_day(now, zone)
    beyond = first + timedelta(days=max(1, min(days, MOST_DAYS)))
    start, end = day_bounds(first, zone)[0], day_bounds(beyond, zone)[0]
    rows = rows_between(tx, queue, start, end)
    skips = _skip_notes(tx, queue, start, end)
    texts = excerpts(
        tx, workspace_id=workspace_id, post_ids=[row["post_id"] for row in rows] if words else ()
    )
    by_day: dict[date, list[Row]] = {}
    for row in rows:
        by_day.setdefault(local_day(row["due_at"], zone), []).append(row)
    shown = tuple(
        _day(queue, day, by_day.get(day, []), skips=skips, texts=texts, now=now)
        for day in (first + timedelta(days=n) for n in range((beyond - first).days))
    )
    return View(
        revision=queue.revision,
        zone=zone.name,
        now_there=clock_text(now, queue.schedule),
        paused=queue.paused,
        pause_reason=queue.pause_reason,
        paused_until=queue.paused_until,
        account_state=queue.account_state,
        enabled=queue.enabled,
        to_resume=_to_resume(tx, queue),
        next_send=queue.runnable_at if _sends(queue) else None,
        days=shown,
        next_day=beyond,
    )


def _day(
    queue: Queue,
    day: date,
    rows: list[Row],
    *,
    skips: dict[datetime, str],
    texts: dict[str, str],
    now: datetime,
) -> Day:
    cap = queue.schedule.max_per_day
    posts = {row["post_id"] or row["id"] for row in rows}
    is_full = cap is not None and len(posts) >= cap
    slots = {slot.instant: slot for slot in slots_of(queue.schedule, day)}
    lines = [_line(queue, group, slots, texts=texts, now=now) for group in _groups(rows)]
    taken = {line.at for line in lines} | {row["slot_at"] for row in rows}
    lines += [
        _open_line(slot, skips, is_full=is_full, now=now)
        for slot in slots.values()
        if slot.instant not in taken
    ]
    lines.sort(key=lambda line: (line.at, line.post_id or ""))
    return Day(day, len(posts), cap, day in queue.schedule.blackouts, tuple(lines))


def _line(
    queue: Queue,
    group: list[Row],
    slots: dict[datetime, Slot],
    *,
    texts: dict[str, str],
    now: datetime,
) -> SlotLine:
    leader = group[0]
    if len(group) > 1:
        leader = next((row for row in group if row["slot_at"] is not None), leader)
    slot = slots.get(leader["due_at"])
    kind = _kind(queue, leader, now)
    note = leader["reason"] if kind is not Kind.PINNED else leader["pinned"]
    if kind is Kind.HELD and note is None:
        note = queue.pause_reason if queue.paused else None
    return SlotLine(
        at=leader["due_at"],
        wall_time=clock_text(leader["due_at"], queue.schedule) if slot is None else wall_text(slot),
        kind=kind,
        mark=Mark.NONE if slot is None else slot.mark,
        post_id=leader["post_id"],
        ids=tuple([row["id"] for row in group]),
        channels=tuple(sorted({row["channel"] for row in group})),
        state=leader["state"],
        note=note,
        text=texts.get(leader["post_id"]),
        unfit=next((row["unfit"] for row in group if row["unfit"] and kind not in _OUT), None),
    )


def _kind(queue: Queue, row: Row, now: datetime) -> Kind:
    if row["state"] == "sent":
        return Kind.SENT
    if row["state"] in ("sending", "unconfirmed") or row["leased_until"] is not None:
        return Kind.SENDING
    parked = queue.parked_until is not None and queue.parked_until > now
    chosen = queue.unresumed_until
    unchosen = chosen is not None and row["due_at"] < chosen
    if row["due_at"] <= now and (not _sends(queue) or parked or unchosen):
        return Kind.HELD
    if row["pinned"] is not None:
        return Kind.PINNED
    return Kind.FILLED if row["slot_at"] is not None else Kind.BY_HAND


def _sends(queue: Queue) -> bool:
    """Say whether anything of it goes before a person acts."""
    return not queue.paused and queue.account_state in CAN_SEND


def _to_resume(tx: Tx, queue: Queue) -> int:
    if queue.unresumed_until is None:
        return 0
    held = count_held(tx, workspace_id=queue.workspace_id)
    return held.get(queue.account_id, 0)


def _open_line(slot: Slot, skips: dict[datetime, str], *, is_full: bool, now: datetime) -> SlotLine:
    wall = wall_text(slot)
    if slot.instant in skips:
        return SlotLine(
            slot.instant, wall, Kind.SKIPPED, slot.mark, note=skips[slot.instant] or None
        )
    if slot.instant < now + LEAD:
        return SlotLine(slot.instant, wall, Kind.PAST, slot.mark)
    return SlotLine(slot.instant, wall, Kind.CAPPED if is_full else Kind.EMPTY, slot.mark)


def _groups(rows: list[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, datetime], list[Row]] = {}
    for row in sorted(rows, key=lambda each: each["id"]):
        groups.setdefault((row["post_id"] or row["id"], row["due_at"]), []).append(row)
    return list(groups.values())


def _skip_notes(tx: Tx, queue: Queue, start: datetime, end: datetime) -> dict[datetime, str]:
    rows = tx.all(
        """
        SELECT slot_at, reason FROM queue_skip
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at >= :start AND slot_at < :end
        """,
        start=start,
        end=end,
        **store.key(queue),
    )
    return {row["slot_at"]: row["reason"] or "" for row in rows}
