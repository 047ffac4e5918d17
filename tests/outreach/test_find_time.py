from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.core.budgets import Ramp
from cadenza.core.openings import Openings
from cadenza.core.windows import Hours, Range
from cadenza.core.zones import get_zone
from cadenza.outreach.find_time import Agenda, Caps, Found, Limit, NoTarget, Pace, luck_of

NEW_YORK = "America/New_York"
MONDAY = int(datetime(2026, 6, 1, 4, tzinfo=UTC).timestamp())  # midnight in New York
DAY = 86_400
TWENTY, PACE = Caps(day=20), Pace()
DST_ZONES = (
    NEW_YORK, "Europe/Berlin", "Europe/London", "Australia/Sydney", "Australia/Lord_Howe", "America/Santiago",
    "Africa/Casablanca", "Asia/Kathmandu", "Asia/Tokyo", "America/St_Johns", "Pacific/Auckland", "Pacific/Apia",
)  # fmt: skip


def office(
    zone_name: str, start: int = 9, end: int = 18, holidays: frozenset[date] = frozenset()
) -> Hours:
    day = (Range(time(start), time(end)),)
    return Hours(get_zone(zone_name), ((), day, day, day, day, day, ()), holidays)


def agenda(caps: Caps = TWENTY, pace: Pace = PACE, *, booked: Iterable[int] = ()) -> Agenda:
    openings = Openings(get_zone(NEW_YORK), office(NEW_YORK))
    return Agenda(openings, pace, caps, booked=booked)


def plan(into: Agenda, count: int, *, start: int = MONDAY, key: str = "autumn") -> list[Found]:
    """Find and book `count` places, each after the one before."""
    places: list[Found] = []
    cursor = start
    for number in range(count):
        found = into.find(cursor, luck_of(key, "mailbox", number))
        assert isinstance(found, Found), found
        into.book(found.at, day=found.day)
        places.append(found)
        cursor = found.at
    return places


def wall(at: int, zone_name: str = NEW_YORK) -> datetime:
    """Read the clock on the wall, by Python's own arithmetic and the rules that the product ships."""
    return datetime.fromtimestamp(at, get_zone(zone_name).rules)


def test_the_first_message_leaves_some_minutes_after_the_hours_open() -> None:
    (first,) = plan(agenda(), 1)
    assert time(9) <= wall(first.at).time() <= time(9, 20)
    assert first.limit is Limit.HOURS


def test_twenty_a_day_and_the_rest_on_the_next_days() -> None:
    places = plan(agenda(), 50)
    assert list(Counter(wall(place.at).date() for place in places).values()) == [20, 20, 10]
    assert places[20].limit is Limit.DAY_CAP


def test_friday_evening_goes_on_on_monday_morning_and_not_72_hours_later() -> None:
    friday_17_30 = int(
        datetime(2026, 3, 6, 22, 30, tzinfo=UTC).timestamp()
    )  # clocks change on Sunday
    places = plan(agenda(Caps(day=2)), 3, start=friday_17_30)
    assert wall(places[2].at).date() == date(2026, 3, 9)
    assert time(9) <= wall(places[2].at).time() <= time(9, 20)


def test_gaps_are_drawn_between_the_ends_and_never_below_the_minimum() -> None:
    places = plan(agenda(Caps()), 400)
    gaps = [b.at - a.at for a, b in pairwise(places) if a.day == b.day]
    assert min(gaps) == 360
    assert 1_100 < max(gaps) <= 1_200


def test_the_same_key_gives_the_same_plan_and_another_key_another() -> None:
    assert plan(agenda(), 60) == plan(agenda(), 60)
    assert plan(agenda(), 60) != plan(agenda(), 60, key="winter")


def test_two_plans_on_one_account_share_its_day() -> None:
    shared = agenda()
    plan(shared, 15)
    second = plan(shared, 15, key="winter")
    days = Counter(wall(place.at).date() for place in second)
    assert days[date(2026, 6, 1)] == 5


def test_ordinary_gaps_of_another_plan_are_not_filled_but_a_real_pause_is() -> None:
    nine, five = (MONDAY + hours * 3_600 for hours in (9, 17))
    dense = agenda(Caps(day=50), booked=range(nine, five, 1_000))
    assert plan(dense, 1)[0].at > max(range(nine, five, 1_000))
    pause = agenda(booked=[nine, five])
    assert nine < plan(pause, 1)[0].at < five


def test_an_even_pace_fills_the_hours() -> None:
    places = [
        place for place in plan(agenda(pace=Pace(even=True)), 40) if place.day == places_day()
    ]
    assert len(places) >= 19
    assert wall(places[-1].at).time() > time(16, 30)


def places_day() -> int:
    return date(2026, 6, 1).toordinal()


def test_a_ramp_counts_active_days_not_calendar_days() -> None:
    ramped = agenda(Caps(day=20, ramp=Ramp(start=2, step=2), active_days=1))
    places = plan(ramped, 18)
    assert list(Counter(place.day for place in places).values()) == [4, 6, 8]


def test_a_week_is_a_limit_too() -> None:
    places = plan(agenda(Caps(day=20, week=30)), 40)
    assert wall(places[30].at).date() == date(2026, 6, 8)
    assert places[30].limit is Limit.WEEK_CAP


def test_an_hour_is_a_limit_too() -> None:
    places = plan(agenda(Caps(hour=2), Pace(60, 60, 0)), 5)
    assert places[2].limit is Limit.HOUR_CAP
    assert list(Counter(place.at // 3_600 for place in places).values()) == [2, 2, 1]


def test_a_rolling_day_holds_over_midnight() -> None:
    rolling = agenda(Caps(day=20, rolling_day=20))
    places = [place.at for place in plan(rolling, 60)]
    assert max(sum(1 for p in places if at <= p < at + DAY) for at in places) == 20


def test_a_recipient_is_written_to_within_their_own_hours() -> None:
    both = Openings(get_zone(NEW_YORK), office(NEW_YORK), office("Europe/Berlin"))
    found = agenda().find(MONDAY, luck_of("autumn"), common=both)
    assert isinstance(found, Found)
    assert wall(found.at, "Europe/Berlin").time() < time(18)
    assert wall(found.at).time() >= time(9)


def test_hours_that_never_meet_are_said_to_and_not_searched_for_ever() -> None:
    never = Openings(get_zone(NEW_YORK), office(NEW_YORK, 9, 12), office("Asia/Tokyo", 9, 12))
    assert agenda().find(MONDAY, luck_of("autumn"), common=never) == NoTarget(Limit.RECIPIENT_HOURS)


def test_a_cap_of_none_a_day_finds_no_place() -> None:
    assert agenda(Caps(day=0)).find(MONDAY, luck_of("autumn")) == NoTarget(Limit.DAY_CAP)


def test_fifty_a_day_do_not_fit_into_nine_hours() -> None:
    assert agenda(Caps(day=50)).reachable_on(places_day()) < 50


def test_an_expected_follow_up_takes_its_place_in_the_day() -> None:
    expecting = agenda(Caps(day=3))
    expecting.expect(places_day())
    assert [place.day for place in plan(expecting, 3)] == [places_day()] * 2 + [places_day() + 1]


@settings(max_examples=60)
@given(
    zone_name=st.sampled_from(DST_ZONES),
    start=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 1)),  # noqa: DTZ001
    opens=st.integers(0, 20),
    length=st.integers(2, 12),
    day_cap=st.integers(1, 25),
    week_cap=st.none() | st.integers(1, 60),
    hour_cap=st.none() | st.integers(1, 5),
    rolling=st.none() | st.integers(1, 25),
    even=st.booleans(),
)
def test_no_plan_breaks_a_rule(
    zone_name: str, start: datetime, opens: int, length: int, day_cap: int, week_cap: int | None,
    hour_cap: int | None, rolling: int | None, even: bool,
) -> None:  # fmt: skip
    closes = (opens + length) % 24
    hours = office(zone_name, opens, closes, frozenset({date(2026, 12, 25)}))
    caps = Caps(day=day_cap, week=week_cap, hour=hour_cap, rolling_day=rolling)
    into = Agenda(Openings(get_zone(zone_name), hours), Pace(even=even), caps)
    begins = int(start.replace(tzinfo=UTC).timestamp())
    places = [place.at for place in plan(into, 60, start=begins)]

    walls = [wall(at, zone_name) for at in places]
    for at in walls:
        belongs = (
            at.date()
            if opens < closes or at.hour >= opens
            else date.fromordinal(at.toordinal() - 1)
        )
        inside = (
            opens <= at.hour < closes if opens < closes else at.hour >= opens or at.hour < closes
        )
        assert inside, at
        assert belongs.isoweekday() <= 5
        assert belongs != date(2026, 12, 25)
    assert min(places) >= begins
    assert places == sorted(places)
    assert all(b - a >= 360 for a, b in pairwise(places))
    assert max(Counter(at.date() for at in walls).values()) <= day_cap
    assert max(Counter(at.isocalendar()[:2] for at in walls).values()) <= (week_cap or 60)
    assert max(Counter(at // 3_600 for at in places).values()) <= (hour_cap or 60)
    assert (
        rolling is None
        or max(sum(1 for p in places if at <= p < at + DAY) for at in places) <= rolling
    )
