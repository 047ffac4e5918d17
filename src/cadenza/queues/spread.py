"""Finds what is over a day's maximum once a schedule is changed, and where each of those goes instead.

A day keeps what was sent or is on its way, then what a person timed, then queued posts by their time; the
rest takes the next free slots behind its day, in order. So after a change no day holds more than may go on
it, and nothing has to move when it is sent. Limit: what is being tried again stays where it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from cadenza.core.slots import LEAD, Slot, upcoming_slots
from cadenza.core.zones import day_bounds, local_day
from cadenza.deliveries.gates import HURRY
from cadenza.queues import store
from cadenza.queues.assign_slots import Move, to_slot
from cadenza.queues.model import Entry, Queue
from cadenza.queues.occupancy import Occupancy
from cadenza.sql.tx import Row, Tx

_AHEAD = 32  # days that the book reads at once


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A post that waits at an instant; `by_hand`: a person chose it, so queued posts give way."""

    entry: Entry
    at: datetime
    by_hand: bool

    @property
    def post(self) -> str:
        return self.entry.post_id or self.entry.id


def spread(tx: Tx, now: datetime, queue: Queue, laid_out: Sequence[Move]) -> list[Move] | None:
    """Return the moves of what is over the maximum; None: some find no slot within a year.

    `laid_out` says where the posts that may move stand under the new schedule, moved or not.
    """
    if queue.schedule.max_per_day is None:
        return []
    queued = [_Waiting(entry, at, by_hand=False) for entry, at, _ in laid_out]
    known = frozenset(_ids(one.entry for one in queued))
    others = _others(tx, now, queue, known)
    days = _Days(
        queue,
        queue.schedule.max_per_day,
        Occupancy(tx, queue, leaving=known.union(_ids(one.entry for one in others))),
        [*queued, *others],
    )
    slots = _Slots(queue, days, now, store.skipped(tx, queue, since=now))
    moves: list[Move] = []
    for day in sorted(days.waiting):
        for one in days.over(day):
            slot = slots.take(one, behind=day)
            if slot is None:
                return None
            moves.append(to_slot(one.entry, slot))
    return moves


class _Days:
    """How many posts stand on each day, and which of them are too many."""

    def __init__(
        self, queue: Queue, maximum: int, occupancy: Occupancy, waiting: Iterable[_Waiting]
    ) -> None:
        self._zone = queue.schedule.zone
        self._maximum = maximum
        self._book = occupancy
        self._looked: set[date] = set()
        self._come: dict[date, set[str]] = {}  # posts that were moved to a day
        self.waiting: dict[date, list[_Waiting]] = {}
        self.taken: set[datetime] = set()
        for one in waiting:
            self.waiting.setdefault(self.day_of(one.at), []).append(one)
            self.taken.add(one.at)

    def day_of(self, at: datetime) -> date:
        return local_day(at, self._zone)

    def over(self, day: date) -> list[_Waiting]:
        """Return what a day cannot keep, in the order of time; a post's channels stay together."""
        kept = self._fixed(day) | self._come.get(day, set())
        ranked = sorted(self.waiting[day], key=lambda one: (not one.by_hand, one.at, one.post))
        for one in ranked:
            if len(kept) < self._maximum:
                kept.add(one.post)
        return sorted(
            (one for one in ranked if one.post not in kept), key=lambda one: (one.at, one.post)
        )

    def has_room(self, day: date, post: str) -> bool:
        """Say whether a day can take one more post."""
        there = self._fixed(day) | self._come.get(day, set())
        there |= {one.post for one in self.waiting.get(day, ())}
        return post in there or len(there) < self._maximum

    def is_free(self, at: datetime) -> bool:
        """Say whether nobody holds an instant."""
        self._look(self.day_of(at))
        return at not in self.taken and at not in self._book.taken(self.day_of(at))

    def add(self, one: _Waiting, at: datetime) -> None:
        """Count a post on the day that it moves to."""
        self._come.setdefault(self.day_of(at), set()).add(one.post)
        self.taken.add(at)

    def end_of(self, day: date) -> datetime:
        return day_bounds(day, self._zone)[1]

    def _fixed(self, day: date) -> set[str]:
        self._look(day)
        return set(self._book.seen(day).keys)

    def _look(self, day: date) -> None:
        if day not in self._looked:
            self._book.look(day, _AHEAD)
            self._looked |= {day + timedelta(days=n) for n in range(_AHEAD)}


@dataclass(slots=True)
class _Slots:
    """Hands out free slots in order; as days come in order too, nobody has to look back."""

    queue: Queue
    days: _Days
    now: datetime
    skipped: frozenset[datetime]
    _coming: Iterator[Slot] = field(init=False)

    def __post_init__(self) -> None:
        self._coming = upcoming_slots(self.queue.schedule, not_before=self.now + LEAD)

    def take(self, one: _Waiting, *, behind: date) -> Slot | None:
        """Return the next free slot behind a day, on a day with room."""
        since = self.days.end_of(behind)
        for slot in self._coming:
            at = slot.instant
            if at < since or at in self.skipped or not self.days.is_free(at):
                continue
            if self.days.has_room(self.days.day_of(at), one.post):
                self.days.add(one, at)
                return slot
        return None


def _others(tx: Tx, now: datetime, queue: Queue, known: frozenset[str]) -> list[_Waiting]:
    """Read what waits without a slot: timed by hand, or pinned. What is sent by hand passes every maximum."""
    rows = tx.all(
        """
        SELECT id, post_id, due_at, wall_time, pinned FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND due_at >= :now AND slot_at IS NULL AND state IN ('draft', 'scheduled')
            AND leased_until IS NULL AND attempts = 0 AND priority > :hurry
        ORDER BY due_at, id
        """,
        now=now,
        hurry=HURRY,
        **store.key(queue),
    )
    together: dict[tuple[str, datetime], list[Row]] = {}
    for row in rows:
        if row["id"] not in known:
            together.setdefault((row["post_id"] or row["id"], row["due_at"]), []).append(row)
    return [
        _Waiting(
            Entry(
                first["id"],
                first["post_id"],
                first["due_at"],
                first["wall_time"],
                tuple(row["id"] for row in rest),
            ),
            first["due_at"],
            by_hand=first["pinned"] is None,
        )
        for first, *rest in together.values()
    ]


def _ids(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        yield entry.id
        yield from entry.followers
