"""Who holds what on which day, asked of the tables: the `Booked` of an account's schedule.

Full days are found by counting in the database, days at a time, along the index of slots, so that nothing
of a long queue is loaded to find its end; only the day that may have room is read row by row. A post
counts once on its day, however many channels it has. Every live row that has a slot to come stands on a
slot of the present schedule: changing the schedule pins the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from cadenza.core.slots import HORIZON, LEAD, FreeSlot, NoFreeSlot, next_free_slot, slots_of
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import day_bounds, local_day, steady_offset
from cadenza.queues import store
from cadenza.queues.model import COUNTED, LIVE, Queue
from cadenza.sql.tx import Row, Tx

_CHUNKS = (3, 28, 140, 370)  # days that one statement counts: a short queue asks little
_DAY = timedelta(days=1)


class Occupant(NamedTuple):
    """What a day holds: which posts count, and which instants are taken."""

    keys: frozenset[str]
    taken: frozenset[datetime]

    @property
    def posts(self) -> int:
        """How many posts count."""
        return len(self.keys)


@dataclass(slots=True)
class Occupancy:
    """One account's days, each read once. What stands at `moving_since` or later and may move is left out."""

    tx: Tx
    queue: Queue
    moving_since: datetime | None = None
    leaving: frozenset[str] = frozenset()  # others that are about to move as well
    today: date | None = (
        None  # what came due today may stand on slots of an older schedule: not counted
    )
    _days: dict[date, Occupant] = field(default_factory=dict[date, Occupant], init=False)
    _full: dict[date, bool] = field(default_factory=dict[date, bool], init=False)  # is it capped?
    _full_to: date | None = field(default=None, init=False)  # up to there no slot is free
    _counted_to: date | None = field(default=None, init=False)
    _chunks: Iterator[int] = field(default_factory=lambda: iter(_CHUNKS), init=False)

    def first_open(self, day: date) -> date:
        """Return the first date from `day` on that the counts do not show to be full."""
        if self.moving_since is not None:
            return day  # the counts would be those before the move
        while True:
            if self._full_to is not None and day < self._full_to:
                if not self._has_times(day):
                    return day
            else:
                if self._counted_to is None or day >= self._counted_to:
                    if self._counted_to is not None and self._full_to is None:
                        # The next days are full: perhaps all are, and the one behind is looked at itself.
                        self._full_to = self._probe(day) or day
                        if day < self._full_to:
                            continue
                    self._count_full(day)
                if day not in self._full:
                    return day
            day += _DAY

    def is_capped(self, day: date) -> bool:
        """Say of a full date whether it has its number of posts; else others hold all of its slots."""
        if day in self._full:
            return self._full[day]
        cap = self.queue.schedule.max_per_day
        return cap is not None and slots_on(self.queue.schedule, day) >= cap  # each slot holds one

    def _has_times(self, day: date) -> bool:
        schedule = self.queue.schedule
        return bool(schedule.times[day.toordinal() % 7]) and day not in schedule.blackouts

    def count(self, day: date) -> int:
        """Return how many posts count on that date."""
        return self.seen(day).posts

    def taken(self, day: date) -> frozenset[datetime]:
        """Return the instants that are held on that date."""
        return self.seen(day).taken

    def seen(self, day: date) -> Occupant:
        """Read one day."""
        if day not in self._days:
            self.look(day, 1)
        return self._days[day]

    def look(self, first: date, days: int) -> None:
        """Read several days in one statement."""
        start, _ = day_bounds(first, self.queue.schedule.zone)
        _, end = day_bounds(first + _DAY * (days - 1), self.queue.schedule.zone)
        posts: dict[date, set[str]] = {}
        taken: dict[date, set[datetime]] = {}
        zone = self.queue.schedule.zone
        for row in rows_between(self.tx, self.queue, start, end, moving_since=self.moving_since):
            if row["id"] in self.leaving:
                continue
            posts.setdefault(local_day(row["due_at"], zone), set()).add(row["post_id"] or row["id"])
            if row["state"] != "sent":  # a try that was put off still holds its slot
                for instant in {row["due_at"], row["slot_at"]} - {None}:
                    taken.setdefault(local_day(instant, zone), set()).add(instant)
        for offset in range(days):
            day = first + _DAY * offset
            self._days[day] = Occupant(frozenset(posts.get(day, ())), frozenset(taken.get(day, ())))

    def _probe(self, first: date) -> date | None:
        """Find the day behind a queue without gaps by one count, however long it is; None: it has gaps.

        As many rows hold slots as there are slots on these days, and no slot is held twice: so all are.
        """
        schedule = self.queue.schedule
        busiest = max(len(times) for times in schedule.times)
        if schedule.max_per_day is not None and schedule.max_per_day < busiest:
            return None  # a day is full before its slots are
        held = self._held_from(first)
        beyond, offered = _as_far_as(schedule, first, held)
        if beyond == first or held - self._held_from(beyond) != offered:
            return None
        return beyond

    def _held_from(self, day: date) -> int:
        return self.tx.value(
            f"""
            SELECT count(*) AS held FROM delivery
            WHERE workspace_id = :workspace_id AND account_id = :account_id
                AND slot_at >= :start AND slot_at IS NOT NULL AND state IN {LIVE}
            """,  # noqa: S608 - put together from constants
            start=day_bounds(day, self.queue.schedule.zone)[0],
            **store.key(self.queue),
        )

    def _count_full(self, first: date) -> None:
        """Let the database say which of the next days are full; those without slots are not."""
        days = next(self._chunks, _CHUNKS[-1])
        self._counted_to = first + _DAY * days
        zone, cap = self.queue.schedule.zone, self.queue.schedule.max_per_day
        requested = [
            (day.isoformat(), *day_bounds(day, zone), slots)
            for day in (first + _DAY * offset for offset in range(days))
            if day != self.today and (slots := slots_on(self.queue.schedule, day))
        ]
        full = self.tx.all(
            f"""
            SELECT day, {"false" if cap is None else _CAPPED} AS capped FROM TABLE(:days) AS days
                (day text, from_at timestamptz, to_at timestamptz, slots bigint)
            WHERE slots <= (
                SELECT count(*) FROM delivery
                WHERE workspace_id = :workspace_id AND account_id = :account_id
                    AND slot_at >= from_at AND slot_at < to_at
                    AND slot_at IS NOT NULL AND state IN {LIVE}
            ) {"" if cap is None else f"OR {_CAPPED}"}
            """,  # noqa: S608 - put together from constants
            days=requested,
            **({} if cap is None else {"cap": cap}),
            **store.key(self.queue),
        )
        self._full |= {date.fromisoformat(row["day"]): bool(row["capped"]) for row in full}


_CAPPED = f"""
            :cap <= (
                SELECT count(DISTINCT coalesce(post_id, id)) FROM delivery
                WHERE workspace_id = :workspace_id AND account_id = :account_id
                    AND due_at >= from_at AND due_at < to_at AND action = 'post' AND state IN {COUNTED}
            )
"""  # noqa: S608 - put together from constants


def first_free(
    tx: Tx, now: datetime, queue: Queue, *, not_before: datetime | None = None
) -> FreeSlot | NoFreeSlot:
    """Return the first slot that is free from now on, or from `not_before`, within a year."""
    start = max(now + LEAD, not_before or now)
    return next_free_slot(
        queue.schedule,
        Occupancy(tx, queue, today=local_day(now, queue.schedule.zone)),
        not_before=start,
        skipped=store.skipped(tx, queue, since=start),
        horizon=max(HORIZON - (start - now), _DAY),
    )


def rows_between(
    tx: Tx, queue: Queue, start: datetime, end: datetime, *, moving_since: datetime | None = None
) -> list[Row]:
    """Read what counts or holds a slot from `start` up to, not including, `end`."""
    staying = "" if moving_since is None else _STAYING
    return tx.all(
        f"""
        SELECT {_COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND due_at >= :start AND due_at < :end AND action = 'post' AND state IN {COUNTED} {staying}
        UNION
        SELECT {_COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at >= :start AND slot_at < :end AND slot_at IS NOT NULL AND state IN {LIVE} {staying}
        """,  # noqa: S608 - put together from constants
        start=start,
        end=end,
        **({} if moving_since is None else {"since": moving_since}),
        **store.key(queue),
    )


_COLUMNS = "id, post_id, channel, state, due_at, slot_at, pinned, leased_until, reason, wall_time, deferrals, unfit"
MAY_MOVE = """
    {0}.slot_at IS NOT NULL AND {0}.state IN ('draft', 'scheduled') AND {0}.leased_until IS NULL
    AND {0}.due_at = {0}.slot_at
"""
_STAYING = f"""
            AND NOT ({MAY_MOVE.format("delivery")} AND delivery.slot_at >= :since)
            AND NOT (delivery.slot_at IS NULL AND pinned IS NULL AND state IN ('draft', 'scheduled')
                AND leased_until IS NULL AND EXISTS (
                    SELECT 1 FROM delivery AS leader
                    WHERE leader.workspace_id = delivery.workspace_id
                        AND leader.account_id = delivery.account_id AND leader.slot_at = delivery.due_at
                        AND leader.post_id = delivery.post_id AND leader.state IN {LIVE}
                        AND {MAY_MOVE.format("leader")} AND leader.slot_at >= :since
                ))
"""  # noqa: S608 - put together from constants


def slots_on(schedule: WeeklySchedule, day: date) -> int:
    """Count the slots of a day; where no clock changes nearby they need not be laid out."""
    ordinal = day.toordinal()
    if all(steady_offset(n, schedule.zone) is not None for n in (ordinal, ordinal - 1)):
        return 0 if day in schedule.blackouts else len(schedule.times[ordinal % 7])
    return len(slots_of(schedule, day))


def _as_far_as(schedule: WeeklySchedule, first: date, held: int) -> tuple[date, int]:
    """Return the day that so many posts would reach, if they left no gap, and the slots before it."""
    day, offered, zone = first, 0, schedule.zone
    week = sum(len(times) for times in schedule.times)
    for _ in range(HORIZON.days):
        ordinal = day.toordinal()
        # No clock changes there and back within a week: with one offset at both ends it is a plain one.
        before, after = steady_offset(ordinal - 1, zone), steady_offset(ordinal + 6, zone)
        plain = before is not None and before == after and not schedule.blackouts
        days, more = (7, week) if plain else (1, slots_on(schedule, day))
        if offered + more > held and days == 7:
            days, more = 1, slots_on(schedule, day)
        if offered + more > held:
            break
        day, offered = day + _DAY * days, offered + more
    return day, offered
