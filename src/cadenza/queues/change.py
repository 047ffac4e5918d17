"""Changes an account's schedule, zone or cap, and says first what becomes of the posts that stand in it.

By default a moved time takes its posts along, and a removed slot leaves its post pinned where it is,
marked. `keep` moves nothing for the slots' sake: what no longer stands on a slot is pinned. `reflow` lays
all out again, in order, pinned ones too. A new zone keeps wall times of queued posts and instants of
hand-timed ones. Whatever the choice, what is over the maximum of its day moves on at once (`spread.py`), not
when it is sent; and a change of neither slots, zone nor maximum moves nothing. A post keeps the slot that it
holds up to the last second: only others must be a minute ahead. With `dry_run` the answer is the same and
nothing is changed. Limit: the work grows with the queue, as it must.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from enum import StrEnum

from cadenza.core.slots import LEAD, Slot, slot_at, upcoming_slots
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import local_day, resolve
from cadenza.db import audit
from cadenza.queues import store
from cadenza.queues.assign_slots import ALL, Move, assign_slots, entries, to_slot
from cadenza.queues.model import LIVE, Entry, Moved, NoQueue, NoRoom, Queue, wall_text
from cadenza.queues.occupancy import Occupancy
from cadenza.queues.pin import pin, pinned_entries
from cadenza.queues.reorder import Stale
from cadenza.queues.rewrite_wall_times import rewrite_wall_times
from cadenza.queues.schedule import BadSchedule, as_columns, as_data, read_week, set_zone
from cadenza.queues.shift import shift
from cadenza.queues.spread import spread
from cadenza.sql.tx import Tx

Renamed = Mapping[tuple[int, time], time]  # (weekday, old time) -> new time


class How(StrEnum):
    """What becomes of queued posts."""

    FOLLOW = "follow"  # the default: they go with their slot
    KEEP = "keep"
    REFLOW = "reflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSchedule:
    """What the change does (or, in a dry run, would do) to the posts in the queue."""

    keeps: int
    moves: tuple[Moved, ...]
    pinned: tuple[str, ...]  # orphaned: they stay where they are, and no slot is there any more
    fixed: tuple[str, ...] = ()  # by another zone: timed by hand, they keep their instant
    revision: int
    schedule: WeeklySchedule
    dry_run: bool


def change(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    slots: object = None,
    zone: str | None = None,
    max_per_day: int | None = None,
    no_max_per_day: bool = False,
    blackouts: Iterable[date] | None = None,
    enabled: bool | None = None,
    name: str | None = None,
    how: How = How.FOLLOW,
    renamed: Renamed | None = None,
    revision: int | None = None,
    dry_run: bool = False,
) -> ChangedSchedule | BadSchedule | Stale | NoRoom | NoQueue:
    """Change what is given and leave the rest; `renamed` says which time became which, else it is guessed."""
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    if revision is not None and revision != queue.revision:
        return Stale(queue.revision, tuple(entries(tx, queue, page=ALL)))
    old = queue.schedule
    own = None if no_max_per_day else max_per_day or queue.own_max_per_day
    week = read_week(
        slots if slots is not None else as_data(old)["slots_by_day"],
        zone=zone or old.zone.name,
        max_per_day=own,
        blackouts=old.blackouts if blackouts is None else blackouts,
    )
    if isinstance(week, BadSchedule):
        return week
    if (wrong := _bad_names(old, week, renamed)) is not None:
        return wrong
    new = replace(queue, schedule=_with_home_cap(tx, queue, week, own), own_max_per_day=own)
    line = list(entries(tx, queue, since=now, page=ALL))
    layout = _lay_out(tx, now, new, line, old=old, how=how, renamed=renamed)
    if layout is None:
        return NoRoom(
            account_id,
            "not all posts find a slot within a year: add slots, keep, or allow more a day",
        )
    moves, pins = layout.moves, layout.pins
    answer = ChangedSchedule(
        keeps=len(line) - len(pins) - sum(1 for e, _, _ in moves if e in line),
        moves=tuple(Moved(e.id, e.post_id, e.at, at) for e, at, _ in moves if at != e.at),
        pinned=tuple(entry.id for entry in pins),
        fixed=_fixed(tx, now, queue) if new.schedule.zone != old.zone else (),
        revision=queue.revision + (0 if dry_run else 1),
        schedule=new.schedule,
        dry_run=dry_run,
    )
    if not dry_run:
        pin(tx, now, new, pins, why="slot removed")
        assign_slots(tx, now, new, moves, by=by, why=layout.why)
        if new.schedule.zone != old.zone:
            rewrite_wall_times(tx, now, new, was=old.zone.name)
        _write(tx, now, new, by=by, enabled=enabled, name=name)
        _audit(tx, now, queue, new, answer, by=by)
    return answer


def _fixed(tx: Tx, now: datetime, queue: Queue) -> tuple[str, ...]:
    """Name the coming posts that a person timed, one delivery each: a channel that follows a slot is none."""
    rows = tx.all(
        f"""
        SELECT min(id) AS id FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND due_at >= :now AND state IN ('draft', 'scheduled') AND slot_at IS NULL AND pinned IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM delivery AS leader
                WHERE leader.workspace_id = delivery.workspace_id AND leader.account_id = delivery.account_id
                    AND leader.slot_at = delivery.due_at AND leader.post_id = delivery.post_id
                    AND leader.state IN {LIVE}
            )
        GROUP BY coalesce(post_id, id), due_at ORDER BY due_at
        """,  # noqa: S608 - a constant
        now=now,
        **store.key(queue),
    )
    return tuple(row["id"] for row in rows)


def _with_home_cap(tx: Tx, queue: Queue, week: WeeklySchedule, own: int | None) -> WeeklySchedule:
    if own is not None:
        return week
    home: int | None = tx.value(
        "SELECT max_per_day FROM workspace WHERE id = :id", id=queue.workspace_id
    )
    return replace(week, max_per_day=home)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Who moves where under the new schedule, and why; and who is pinned."""

    moves: list[Move]
    pins: list[Entry]
    why: dict[str, str]


def _lay_out(
    tx: Tx,
    now: datetime,
    queue: Queue,
    line: Sequence[Entry],
    *,
    old: WeeklySchedule,
    how: How,
    renamed: Renamed | None,
) -> _Layout | None:
    """Find every post's place under the new schedule; None when there is no room."""
    if queue.schedule == old and how is not How.REFLOW:
        return _Layout([], [], {})
    by_slots = _by_slots(tx, now, queue, line, old=old, how=how, renamed=renamed)
    if by_slots is None:
        return None
    moves = {move[0].id: move for move in by_slots[0]}
    stay = [(e, e.at, e.wall_time) for e in line if e.id not in moves]
    over = spread(tx, now, queue, [*moves.values(), *stay])
    if over is None:
        return None
    why = dict.fromkeys(moves, "the weekly slots were changed")
    why |= {move[0].id: f"at most {queue.schedule.max_per_day} a day" for move in over}
    moves |= {move[0].id: move for move in over}
    pins = [entry for entry in by_slots[1] if entry.id not in moves]
    return _Layout(sorted(moves.values(), key=lambda move: (move[0].at, move[0].id)), pins, why)


def _by_slots(
    tx: Tx,
    now: datetime,
    queue: Queue,
    line: Sequence[Entry],
    *,
    old: WeeklySchedule,
    how: How,
    renamed: Renamed | None,
) -> tuple[list[Move], list[Entry]] | None:
    """Return who moves where because of the slots, and who is pinned; None when there is no room."""
    if how is How.REFLOW:
        return _reflow(tx, now, queue, line)
    if how is How.KEEP:
        return [], [entry for entry in line if slot_at(queue.schedule, entry.at) is None]
    return follow(tx, now, queue, line, _names(old, queue.schedule, renamed))


def _reflow(
    tx: Tx, now: datetime, queue: Queue, line: Sequence[Entry]
) -> tuple[list[Move], list[Entry]] | None:
    pinned = pinned_entries(tx, queue, since=now)
    start = now + LEAD
    skipped = store.skipped(tx, queue, since=now)
    # What is about to go from a slot that is still there goes; no other post is given a slot so soon.
    soon = [entry for entry in line if entry.at < start]
    stay = [e for e in soon if e.at not in skipped and slot_at(queue.schedule, e.at) is not None]
    wanted = sorted(
        [*(entry for entry in line if entry not in stay), *pinned], key=lambda entry: entry.at
    )
    leaving = [*pinned, *(entry for entry in soon if entry not in stay)]
    places = shift(
        queue,
        Occupancy(
            tx,
            queue,
            moving_since=start,
            leaving=frozenset(id_ for entry in leaving for id_ in (entry.id, *entry.followers)),
        ),
        wanted,
        not_before=start,
        skipped=skipped,
        compact=True,
    )
    if places.full:
        return None
    moved = {entry.id for entry, _ in places.moves}
    moves = [to_slot(entry, slot) for entry, slot in places.moves]
    # A pinned one whose instant is a slot again takes that slot without moving.
    moves += [(e, e.at, e.wall_time) for e in pinned if e.id not in moved]
    return moves, []


def follow(
    tx: Tx, now: datetime, queue: Queue, line: Sequence[Entry], names: Renamed
) -> tuple[list[Move], list[Entry]] | None:
    """Let each go where its wall time is now; who comes to a place that is held takes the next."""
    start = now + LEAD
    skipped = store.skipped(tx, queue, since=start)
    occupancy = Occupancy(tx, queue, moving_since=now)
    wanted: dict[str, Slot] = {}
    pins: list[Entry] = []
    taken: set[datetime] = set()
    late: list[Entry] = []
    for entry in line:
        slot = _new_slot(queue.schedule, entry, names)
        if slot is None:
            pins.append(entry)
            taken.add(entry.at)
        elif (
            (
                slot.instant < start and slot.instant != entry.at
            )  # its own it keeps to the last second
            or slot.instant in taken
            or _is_held(occupancy, queue, slot)
        ):
            late.append(entry)
        else:
            wanted[entry.id] = slot
            taken.add(slot.instant)
    zone = queue.schedule.zone
    given = Counter(local_day(at, zone) for at in taken)
    for entry in late:
        slot = _next(queue, occupancy, start, taken | skipped, given)
        if slot is None:
            return None
        wanted[entry.id] = slot
        taken.add(slot.instant)
        given[local_day(slot.instant, zone)] += 1
    moves = [
        to_slot(entry, wanted[entry.id])
        for entry in line
        if entry.id in wanted
        and (wanted[entry.id].instant != entry.at or wall_text(wanted[entry.id]) != entry.wall_time)
    ]
    return moves, pins


def _new_slot(schedule: WeeklySchedule, entry: Entry, names: Renamed) -> Slot | None:
    """Find the slot that a post's wall time means under the new schedule; None: it was removed."""
    if entry.wall_time is None:
        return slot_at(schedule, entry.at)
    written = datetime.fromisoformat(entry.wall_time).replace(tzinfo=UTC)
    day, weekday = written.date(), written.date().toordinal() % 7
    wall = names.get((weekday, written.time()), written.time())
    if wall not in schedule.times[weekday] or day in schedule.blackouts:
        return None
    gap, fold = schedule.policy(weekday, wall)
    resolved = resolve(day, wall, schedule.zone, gap=gap, fold=fold)
    if not resolved.instants:
        return None
    instant = min(resolved.instants, key=lambda at: abs(at - entry.at))
    return Slot(instant, day, wall, resolved.mark)


def _is_held(occupancy: Occupancy, queue: Queue, slot: Slot) -> bool:
    return slot.instant in occupancy.taken(local_day(slot.instant, queue.schedule.zone))


def _next(
    queue: Queue, occupancy: Occupancy, start: datetime, taken: set[datetime], given: Counter[date]
) -> Slot | None:
    cap, zone = queue.schedule.max_per_day, queue.schedule.zone
    for slot in upcoming_slots(queue.schedule, not_before=start):
        day = local_day(slot.instant, zone)
        has_room = cap is None or occupancy.count(day) + given[day] < cap
        if has_room and slot.instant not in taken and not _is_held(occupancy, queue, slot):
            return slot
    return None


def _bad_names(
    old: WeeklySchedule, new: WeeklySchedule, renamed: Renamed | None
) -> BadSchedule | None:
    """Say which of the times that were renamed is not there, before or after."""
    for (weekday, was), now in (renamed or {}).items():
        if was not in old.times[weekday]:
            return BadSchedule(f"day {weekday} has no slot at {was:%H:%M} that could be renamed")
        if now not in new.times[weekday]:
            return BadSchedule(
                f"{was:%H:%M} cannot become {now:%H:%M}: day {weekday} has no such slot"
            )
    return None


def _names(old: WeeklySchedule, new: WeeklySchedule, renamed: Renamed | None) -> Renamed:
    """Say which time became which: as told, else the removed ones paired with the new, day by day."""
    if renamed is not None:
        return renamed
    names: dict[tuple[int, time], time] = {}
    for weekday in range(7):
        gone = [t for t in old.times[weekday] if t not in new.times[weekday]]
        come = [t for t in new.times[weekday] if t not in old.times[weekday]]
        names |= {(weekday, was): now for was, now in _pairs(gone, come)}
    return names


def _pairs(gone: Sequence[time], come: Sequence[time]) -> list[tuple[time, time]]:
    """Pair two lists of times in their order, as many as the shorter has, moving as little as can be."""
    if len(gone) > len(come):
        return [(was, now) for now, was in _pairs(come, gone)]
    # best[n]: what the first few of `gone` cost at least, and their partners, among the first n of `come`.
    best: list[tuple[int, tuple[time, ...]] | None] = [(0, ())] * (len(come) + 1)
    for was in gone:
        row: list[tuple[int, tuple[time, ...]] | None] = [None]
        for n, now in enumerate(come):
            before = best[n]
            taken = None if before is None else (before[0] + _apart(was, now), (*before[1], now))
            row.append(min((each for each in (row[-1], taken) if each is not None), default=None))
        best = row
    found = best[-1]
    assert found is not None, "the shorter list fits into the longer"
    return list(zip(gone, found[1], strict=True))


def _apart(one: time, other: time) -> int:
    return abs((one.hour - other.hour) * 60 + one.minute - other.minute)


def _write(
    tx: Tx, now: datetime, queue: Queue, *, by: str, enabled: bool | None, name: str | None
) -> None:
    tx.run(
        """
        UPDATE queue SET slots = :slots, blackouts = :blackouts, max_per_day = :max_per_day,
            enabled = :enabled, name = :name
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        max_per_day=queue.own_max_per_day,
        enabled=queue.enabled if enabled is None else enabled,
        name=queue.name if name is None else name,
        **as_columns(queue.schedule),
        **store.key(queue),
    )
    set_zone(tx, now, zone=queue.schedule.zone.name, **store.key(queue))
    store.rise(tx, now, queue)


def _audit(
    tx: Tx, now: datetime, old: Queue, new: Queue, answer: ChangedSchedule, *, by: str
) -> None:
    audit.record(
        tx,
        now,
        workspace_id=old.workspace_id,
        by=by,
        action="queue.schedule",
        subject_id=old.account_id,
        before=as_data(old.schedule),
        after=as_data(new.schedule)
        | {"moved": len(answer.moves), "pinned": len(answer.pinned), "kept": answer.keeps}
        | {"fixed": len(answer.fixed)},
    )
