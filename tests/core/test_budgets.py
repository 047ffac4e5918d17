from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.budgets import (
    Allowed,
    Budget,
    Counted,
    MinGap,
    Period,
    Ramp,
    Rate,
    Refused,
    Rolling,
    allows,
    cap_of,
    give_back,
    next_period,
    period_key,
    rearm,
    take,
)
from cadenza.core.zones import get_zone

NEW_YORK = get_zone("America/New_York")
NOW = datetime(2026, 6, 1, 16, 0, tzinfo=UTC)  # a Monday, noon in New York
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=s) for s in (1, 60, 3600, 86400))


def a_day(cap: int, **more: object) -> Counted:
    return replace(Counted("day", cap, Period.DAY, NEW_YORK), **more)


def taken(*budgets: Budget, now: datetime = NOW) -> tuple[Budget, ...]:
    answer = allows(now, budgets)
    assert isinstance(answer, Allowed)
    return answer.budgets


def refused(*budgets: Budget, now: datetime = NOW) -> Refused:
    answer = allows(now, budgets)
    assert isinstance(answer, Refused)
    return answer


def test_a_day_allows_its_cap_and_no_more_until_the_local_midnight() -> None:
    budget: Budget = a_day(2)
    for _ in range(2):
        (budget,) = taken(budget)
    no = refused(budget)
    assert no.next_at == datetime(2026, 6, 2, 4, 0, tzinfo=UTC)
    assert no.binding.reason == "2 of 2 this day"
    assert no.next_at is not None
    taken(budget, now=no.next_at)
    refused(budget, now=no.next_at - SECOND)


def test_a_day_starts_where_midnight_does_not_exist() -> None:
    santiago = get_zone("America/Santiago")
    eve = datetime(2026, 9, 6, 3, 59, tzinfo=UTC)
    assert next_period(Period.DAY, eve, santiago) == datetime(2026, 9, 6, 4, tzinfo=UTC)


def test_a_week_starts_on_the_local_monday() -> None:
    budget = Counted("week", 1, Period.WEEK, NEW_YORK)
    (used,) = taken(budget)
    assert refused(used).next_at == datetime(2026, 6, 8, 4, 0, tzinfo=UTC)
    sunday_night = datetime(2026, 6, 8, 3, 59, tzinfo=UTC)
    assert period_key(Period.WEEK, sunday_night, NEW_YORK) == "2026-W23"
    refused(used, now=sunday_night)


def test_an_hour_is_sixty_minutes_whatever_the_clocks_do() -> None:
    (used,) = taken(Counted("hour", 1, Period.HOUR, NEW_YORK), now=NOW + 10 * MINUTE)
    assert refused(used, now=NOW + 20 * MINUTE).next_at == NOW + HOUR


def test_a_lowered_cap_simply_refuses() -> None:
    full = a_day(20, used=30, used_in="2026-06-01")
    assert refused(full).binding.reason == "30 of 20 this day"


def test_a_cap_of_nought_has_no_next_time() -> None:
    assert refused(a_day(0)).next_at is None
    assert refused(Rolling("r", 0)).next_at is None
    busy = MinGap("gap", MINUTE, NOW + HOUR)
    assert refused(a_day(0), busy).binding.key == "day"


def test_a_rolling_day_does_not_reset_at_midnight() -> None:
    budget: Budget = Rolling("rolling", 2)
    (budget,) = taken(budget, now=NOW)
    (budget,) = taken(budget, now=NOW + 10 * HOUR)
    assert refused(budget, now=NOW + 23 * HOUR).next_at == NOW + DAY
    (budget,) = taken(budget, now=NOW + DAY)
    assert refused(budget, now=NOW + DAY).next_at == NOW + 34 * HOUR


def test_an_overdrawn_rolling_budget_waits_until_enough_has_lapsed() -> None:
    hours = tuple(NOW + HOUR * n for n in range(4))
    budget = Rolling("rolling", 2, taken=hours)
    assert refused(budget, now=hours[-1]).next_at == hours[2] + DAY


def test_a_rate_spaces_calls_and_saves_nothing_up() -> None:
    (budget,) = taken(Rate("rate", 3 * SECOND))
    assert refused(budget, now=NOW + SECOND).next_at == NOW + 3 * SECOND
    (budget,) = taken(budget, now=NOW + HOUR)
    refused(budget, now=NOW + HOUR)


def test_a_burst_goes_at_once_and_is_paid_back() -> None:
    budget: Budget = Rate("rate", 3 * SECOND, burst=3)
    for _ in range(3):
        (budget,) = taken(budget)
    assert refused(budget).next_at == NOW + 3 * SECOND


def test_a_gap_is_counted_from_the_end_of_the_call() -> None:
    (budget,) = taken(MinGap("gap", 6 * MINUTE))
    assert isinstance(budget, MinGap)
    ended = NOW + 40 * SECOND
    assert refused(rearm(budget, ended=ended), now=ended).next_at == ended + 6 * MINUTE


def test_one_refusal_takes_nothing_and_all_are_told_in_key_order() -> None:
    day, gap, rate = (
        a_day(1, used=1, used_in="2026-06-01"),
        MinGap("b-gap", MINUTE, NOW + SECOND),
        Rate("a-rate", SECOND),
    )
    no = refused(gap, day, rate)
    assert [refusal.key for refusal in no.refusals] == ["b-gap", "day"]
    assert no.binding.key == "day"


def test_what_is_taken_comes_back_in_key_order() -> None:
    assert [b.key for b in taken(Rate("z", SECOND), a_day(5), Rate("a", SECOND))] == [
        "a",
        "day",
        "z",
    ]


def test_two_budgets_with_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="different keys"):
        allows(NOW, [a_day(1), a_day(2)])


def test_a_refund_returns_the_room_but_only_to_its_own_day() -> None:
    (used,) = taken(a_day(1))
    assert isinstance(allows(NOW, [give_back(used, NOW)]), Allowed)
    tomorrow = taken(used, now=NOW + DAY)[0]
    assert give_back(tomorrow, NOW) == tomorrow
    fresh = a_day(1, used=0, used_in="2026-06-01")
    assert give_back(fresh, NOW) == fresh
    (rolling,) = taken(Rolling("r", 1))
    taken(give_back(rolling, NOW))
    assert give_back(rolling, NOW + HOUR) == rolling


def test_time_that_was_spent_is_not_refunded() -> None:
    for budget in (Rate("rate", MINUTE), MinGap("gap", MINUTE)):
        (used,) = taken(budget)
        assert give_back(used, NOW) == used


def test_a_send_by_hand_overdraws_and_is_remembered() -> None:
    over = take(take(a_day(1), NOW), NOW)
    assert refused(over).binding.reason == "2 of 1 this day"


def test_the_cap_that_holds_is_the_lowest_bound() -> None:
    assert cap_of(20) == 20
    assert cap_of(20, override=50) == 50
    assert cap_of(20, override=50, ceiling=30) == 30
    ramp = Ramp(start=5, step=2, every=3)
    assert [cap_of(20, ramp=ramp, active_days=n) for n in (0, 2, 3, 6, 300)] == [5, 5, 7, 9, 20]


STEPS = st.lists(st.integers(0, 40_000), max_size=80)
LIMITS = st.sampled_from(
    [
        Rolling("x", 4, 6 * HOUR),
        Rate("x", HOUR, burst=2),
        MinGap("x", 2 * HOUR),
        Counted("x", 3, Period.DAY, NEW_YORK),
        Counted("x", 2, Period.HOUR, NEW_YORK),
        Counted("x", 5, Period.WEEK, NEW_YORK),
    ]
)


@given(limit=LIMITS, steps=STEPS)
def test_whatever_is_asked_no_limit_is_ever_passed(limit: Budget, steps: list[int]) -> None:
    # Starting in October, so that runs cross the night with the repeated hour.
    budget, now = limit, datetime(2026, 10, 31, 12, 0, tzinfo=UTC)
    sent: list[datetime] = []
    for step in steps:
        now += timedelta(seconds=step)
        answer = allows(now, [budget])
        if isinstance(answer, Allowed):
            (budget,) = answer.budgets
            sent.append(now)
        else:
            assert answer.next_at is not None
            assert answer.next_at > now
            assert isinstance(allows(answer.next_at, [budget]), Allowed)
            almost = answer.next_at - timedelta(microseconds=1)
            assert isinstance(allows(almost, [budget]), Refused)
    assert most_at_once(limit, sent) <= allowed_at_once(limit)


def most_at_once(limit: Budget, sent: list[datetime]) -> int:
    match limit:
        case Rolling(span=span) | MinGap(gap=span):
            return max((sum(a <= b < a + span for b in sent) for a in sent), default=0)
        case Rate(every=every):
            return max((sum(a <= b < a + every for b in sent) for a in sent), default=0)
        case Counted(period=period, zone=zone):
            keys = [period_key(period, instant, zone) for instant in sent]
            return max((keys.count(key) for key in keys), default=0)


def allowed_at_once(limit: Budget) -> int:
    match limit:
        case Rolling(cap=cap) | Counted(cap=cap):
            return cap
        case Rate(burst=burst):
            return burst
        case MinGap():
            return 1
