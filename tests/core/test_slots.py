from collections.abc import Container, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.bookings import Bookings
from cadenza.core.slots import (
    FreeSlot,
    NoFreeSlot,
    Reason,
    next_free_slot,
    slot_at,
    slots_of,
    upcoming_slots,
)
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import Fold, Gap, Mark, get_zone, local_day

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)  # a Monday; 08:00 in New York
FIVE = tuple(time(hour, 30) for hour in (0, 2, 9, 15, 23))


def every_day(*walls: str, zone: str = "America/New_York") -> WeeklySchedule:
    return WeeklySchedule(get_zone(zone), (tuple(map(time.fromisoformat, walls)),) * 7)


def found(answer: FreeSlot | NoFreeSlot) -> FreeSlot:
    assert isinstance(answer, FreeSlot)
    return answer


def instants(schedule: WeeklySchedule, not_before: str, until: str) -> list[str]:
    span = [datetime.fromisoformat(t).replace(tzinfo=UTC) for t in (not_before, until)]
    slots = upcoming_slots(schedule, not_before=span[0], until=span[1])
    return [slot.instant.isoformat()[:16] for slot in slots]


class Forgetful(Bookings):
    """Books that cannot tell which days are full, as any caller's may be."""

    def first_open(self, day: date) -> date:
        return day


def test_the_first_free_slot_is_given_with_its_wall_time() -> None:
    answer = found(next_free_slot(s := every_day("09:00", "15:00"), Bookings(s), not_before=NOW))
    assert answer.slot.instant == datetime(2026, 6, 1, 13, tzinfo=UTC)
    assert (answer.slot.day, answer.slot.wall_time) == (date(2026, 6, 1), time(9))
    assert answer.slot.mark is Mark.NONE
    assert answer.passed.first == ()


def test_a_slot_at_the_very_start_still_counts() -> None:
    schedule = every_day("08:00")
    assert found(next_free_slot(schedule, Bookings(schedule), not_before=NOW)).slot.instant == NOW


def test_the_answer_says_why_not_earlier() -> None:
    schedule = every_day("07:00", "09:00", "10:00", "11:00")
    at = [datetime(2026, 6, 1, hour, tzinfo=UTC) for hour in (11, 13, 14, 15)]
    answer = found(
        next_free_slot(schedule, Bookings(schedule, [at[1]]), not_before=NOW, skipped={at[2]})
    )
    assert answer.slot.instant == at[3]
    assert [(r.reason, r.instant) for r in answer.passed.first] == [
        (Reason.PAST, at[0]),
        (Reason.TAKEN, at[1]),
        (Reason.SKIPPED, at[2]),
    ]
    assert (answer.passed.past, answer.passed.taken, answer.passed.skipped) == (1, 1, 1)


@pytest.mark.parametrize("books", [Bookings, Forgetful])
def test_days_whose_slots_are_taken_are_not_called_full(books: type[Bookings]) -> None:
    base = every_day("09:00", "15:00")
    taken = [datetime(2026, 6, day, hour, tzinfo=UTC) for day in (1, 2, 3) for hour in (13, 19)]
    answer = found(next_free_slot(base, books(base, taken), not_before=NOW))
    assert answer.slot.day == date(2026, 6, 4)
    assert (answer.passed.taken, answer.passed.full_days) == (6, 0)
    assert [r.instant for r in answer.passed.first] == taken
    assert {r.reason for r in answer.passed.first} == {Reason.TAKEN}


@pytest.mark.parametrize("books", [Bookings, Forgetful])
def test_a_full_day_pushes_the_post_to_tomorrow(books: type[Bookings]) -> None:
    base = every_day("09:00", "15:00")
    schedule = WeeklySchedule(base.zone, base.times, max_per_day=1)
    hand_timed = datetime(2026, 6, 1, 20, 17, tzinfo=UTC)  # counts, though it holds no slot
    answer = found(next_free_slot(schedule, books(schedule, [hand_timed]), not_before=NOW))
    assert answer.slot.day == date(2026, 6, 2)
    assert answer.passed.first[0].reason is Reason.DAY_FULL
    assert answer.passed.full_days == 1


def test_a_day_is_counted_by_the_accounts_calendar_not_by_utc() -> None:
    base = every_day("21:00", "23:00")
    schedule = WeeklySchedule(base.zone, base.times, max_per_day=1)
    tonight = datetime(2026, 6, 2, 1, tzinfo=UTC)  # 21:00 on the 1st in New York
    answer = found(next_free_slot(schedule, Bookings(schedule, [tonight]), not_before=NOW))
    assert answer.slot.day == date(2026, 6, 2)


def test_a_black_out_date_offers_nothing_and_is_told() -> None:
    base = every_day("09:00")
    schedule = WeeklySchedule(base.zone, base.times, blackouts=frozenset({date(2026, 6, 1)}))
    answer = found(next_free_slot(schedule, Bookings(schedule), not_before=NOW))
    assert answer.slot.day == date(2026, 6, 2)
    assert answer.passed.blackout_days == 1
    assert date(2026, 6, 1) not in {s.day for s in upcoming_slots(schedule, not_before=NOW)}


def test_an_empty_week_is_answered_at_once() -> None:
    schedule = every_day()
    answer = next_free_slot(schedule, Bookings(schedule), not_before=NOW)
    assert isinstance(answer, NoFreeSlot)
    assert answer.no_times
    assert list(upcoming_slots(schedule, not_before=NOW)) == []


def test_a_year_without_room_ends_the_search() -> None:
    schedule = every_day("09:00")
    booked = Bookings(schedule, (s.instant for s in upcoming_slots(schedule, not_before=NOW)))
    answer = next_free_slot(schedule, booked, not_before=NOW)
    assert isinstance(answer, NoFreeSlot)
    assert not answer.no_times
    assert answer.passed.taken >= 366


def test_two_slots_that_meet_in_a_gap_are_one_under_the_name_that_exists() -> None:
    schedule = every_day("02:30", "03:00", "03:30")
    slots = slots_of(schedule, date(2026, 3, 8))
    assert [(s.instant.hour, s.instant.minute, s.wall_time) for s in slots] == [
        (7, 0, time(3)),
        (7, 30, time(3, 30)),
    ]


def test_order_is_by_instant_not_by_wall_time() -> None:
    schedule = every_day("02:45", "03:15")  # 02:45 happens at 03:45 on that day
    walls = [slot.wall_time for slot in slots_of(schedule, date(2026, 3, 8))]
    assert walls == [time(3, 15), time(2, 45)]


@pytest.mark.parametrize(
    ("gap", "hours"), [(Gap.SHIFT, [7]), (Gap.SKIP, []), (Gap.NEXT_VALID, [7])]
)
def test_a_schedule_chooses_what_a_gap_does(gap: Gap, hours: Sequence[int]) -> None:
    schedule = WeeklySchedule(get_zone("America/New_York"), ((time(2, 30),),) * 7, gap=gap)
    assert [s.instant.hour for s in slots_of(schedule, date(2026, 3, 8))] == list(hours)


def test_a_schedule_chooses_what_a_fold_does() -> None:
    zone = get_zone("America/New_York")
    for fold, hours in ((Fold.FIRST, [5]), (Fold.SECOND, [6]), (Fold.BOTH, [5, 6])):
        schedule = WeeklySchedule(zone, ((time(1, 30),),) * 7, fold=fold)
        assert [s.instant.hour for s in slots_of(schedule, date(2026, 11, 1))] == hours


def test_the_slots_of_a_skipped_date_join_the_next() -> None:
    schedule = every_day("09:00", zone="Pacific/Apia")
    assert instants(schedule, "2011-12-28T12:00", "2012-01-01T12:00") == [
        "2011-12-28T19:00",  # the 28th, ten hours behind
        "2011-12-29T19:00",
        "2011-12-30T19:00",  # the 30th did not exist; this is the 31st, fourteen ahead
        "2011-12-31T19:00",
    ]
    friday_only = WeeklySchedule(
        get_zone("Pacific/Apia"), ((), (), (), (), (), (time(9), time(18)), (time(10),))
    )
    assert instants(friday_only, "2011-12-29T12:00", "2012-01-01T00:00") == [
        "2011-12-30T19:00",
        "2011-12-30T20:00",
        "2011-12-31T04:00",
    ]


def test_a_named_instant_finds_its_slot() -> None:
    schedule = every_day("09:00", "02:30")
    assert slot_at(schedule, datetime(2026, 6, 1, 13, tzinfo=UTC)) is not None
    assert slot_at(schedule, datetime(2026, 6, 1, 13, 1, tzinfo=UTC)) is None
    shifted = slot_at(schedule, datetime(2026, 3, 8, 7, 30, tzinfo=UTC))
    assert shifted is not None
    assert shifted.mark is Mark.GAP


def test_freed_slots_are_given_again() -> None:
    schedule = every_day("09:00")
    held = [s.instant for s in islice(upcoming_slots(schedule, not_before=NOW), 40)]
    booked = Bookings(schedule, held)
    assert found(next_free_slot(schedule, booked, not_before=NOW)).slot.instant > held[-1]
    assert booked.remove(held[7])
    assert not booked.remove(held[7])
    assert found(next_free_slot(schedule, booked, not_before=NOW)).slot.instant == held[7]
    assert booked.add(held[7])
    assert not booked.add(held[7])


def test_a_midnight_that_comes_twice_loses_no_slot() -> None:
    # Goose Bay went from 00:01 back to 23:01, so the 6th ended twice.
    week = ((time(0), time(23, 30)),) * 7
    schedule = WeeklySchedule(get_zone("America/Goose_Bay"), week, fold=Fold.BOTH)
    assert instants(schedule, "2010-11-07T01:00", "2010-11-07T12:00") == [
        "2010-11-07T02:30",
        "2010-11-07T03:00",
        "2010-11-07T03:30",
        "2010-11-07T04:00",
    ]
    later = WeeklySchedule(schedule.zone, week, fold=Fold.SECOND)
    assert instants(later, "2010-11-07T01:00", "2010-11-07T12:00") == [
        "2010-11-07T03:30",
        "2010-11-07T04:00",
    ]


ZONES = st.sampled_from(
    ["America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Asia/Tokyo"]
)
MINUTES = st.integers(0, 1439).map(lambda m: time(m // 60, m % 60))
WEEKS = st.lists(st.lists(MINUTES, max_size=4), min_size=7, max_size=7)
STARTS = st.datetimes(datetime(2024, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(
    zone=ZONES,
    week=WEEKS,
    start=STARTS,
    holds=st.sets(st.integers(0, 12)) | st.integers(0, 80).map(lambda n: set(range(n))),
    skips=st.sets(st.integers(0, 20), max_size=3),
    cap=st.none() | st.integers(1, 3),
)
def test_the_search_agrees_with_the_plain_reading_of_the_rule(
    zone: str,
    week: list[list[time]],
    start: datetime,
    holds: set[int],
    skips: set[int],
    cap: int | None,
) -> None:
    schedule = WeeklySchedule(get_zone(zone), tuple(map(tuple, week)), max_per_day=cap)
    slots = list(islice(upcoming_slots(schedule, not_before=start), 120))
    held = {slots[i].instant for i in holds if i < len(slots)}
    skipped = {slots[i].instant for i in skips if i < len(slots)}
    per_day = [local_day(instant, schedule.zone) for instant in held]

    def is_free(instant: datetime) -> bool:
        full = cap is not None and per_day.count(local_day(instant, schedule.zone)) >= cap
        return instant not in held and instant not in skipped and not full

    expected = next((s for s in slots if is_free(s.instant)), None)
    for booked in (Bookings(schedule, held), Forgetful(schedule, held)):
        answer = next_free_slot(schedule, booked, not_before=start, skipped=skipped)
        if expected is not None:
            assert found(answer).slot == expected
        elif isinstance(answer, FreeSlot):
            assert answer.slot.instant > slots[-1].instant


def test_the_cost_of_a_lookup_does_not_follow_the_length_of_the_queue() -> None:
    class Counting(Bookings):
        requested = 0

        def taken(self, day: date) -> Container[datetime]:
            self.requested += 1
            return super().taken(day)

    schedule = every_day(*(f"{hour:02}:{minute}" for hour in range(15) for minute in (10, 40)))
    slots = [s.instant for s in upcoming_slots(schedule, not_before=NOW)]
    for held in (10, 10_000):
        booked = Counting(schedule, slots[:held])
        assert found(next_free_slot(schedule, booked, not_before=NOW)).slot.instant == slots[held]
        assert booked.requested <= 2
    assert timedelta(days=320) < slots[10_000] - NOW < timedelta(days=366)
