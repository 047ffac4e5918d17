"""Where clocks change, a fixed time runs by policy and a `*` hour runs on real time.

Each case names the local times it expects; Lord Howe changes by half an hour, Troll by two,
Havana at midnight, Auckland in the other half of the year, Apia skipped a whole date.
"""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.core.cron import parse
from cadenza.core.zones import Fold, Gap, get_zone, local


def runs(
    expression: str, zone: str, day: str, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
) -> list[str]:
    """Return the runs of a local date and a half as "HH:MM+offset"."""
    place = get_zone(zone)
    start = datetime.fromisoformat(f"{day}T00:00+00:00")
    shown = [
        local(run, place)
        for run in parse(expression).occurrences(
            start - timedelta(days=1),
            place,
            gap=gap,
            fold=fold,
            until=start + timedelta(days=2),
        )
    ]
    return [_clock(run) for run in shown if run.date().isoformat() == day]


def _clock(run: datetime) -> str:
    offset = run.utcoffset() or timedelta(0)
    hours = offset / timedelta(hours=1)
    return f"{run:%H:%M}{hours:+g}"


GAPS = [
    # zone, date, expression, shift, next_valid; skip is always empty
    ("America/New_York", "2026-03-08", "30 2 * * *", ["03:30-4"], ["03:00-4"]),
    ("America/New_York", "2026-03-08", "0 2 * * *", ["03:00-4"], ["03:00-4"]),
    ("America/New_York", "2026-03-08", "15,45 2 * * *", ["03:15-4", "03:45-4"], ["03:00-4"]),
    ("Europe/Berlin", "2026-03-29", "30 2 * * *", ["03:30+2"], ["03:00+2"]),
    ("Australia/Lord_Howe", "2026-10-04", "15 2 * * *", ["02:45+11"], ["02:30+11"]),
    ("Pacific/Auckland", "2026-09-27", "30 2 * * *", ["03:30+13"], ["03:00+13"]),
    ("America/Havana", "2025-03-09", "0 0 * * *", ["01:00-4"], ["01:00-4"]),
    ("America/Havana", "2025-03-09", "30 0 * * *", ["01:30-4"], ["01:00-4"]),
    ("Antarctica/Troll", "2026-03-29", "30 2 * * *", ["04:30+2"], ["03:00+2"]),
]
FOLDS = [
    # zone, date, expression, first, second
    ("America/New_York", "2026-11-01", "30 1 * * *", ["01:30-4"], ["01:30-5"]),
    ("America/New_York", "2026-11-01", "0 1 * * *", ["01:00-4"], ["01:00-5"]),
    ("America/New_York", "2026-11-01", "59 1 * * *", ["01:59-4"], ["01:59-5"]),
    ("Europe/Berlin", "2026-10-25", "30 2 * * *", ["02:30+2"], ["02:30+1"]),
    ("Australia/Lord_Howe", "2026-04-05", "45 1 * * *", ["01:45+11"], ["01:45+10.5"]),
    ("Pacific/Auckland", "2026-04-05", "30 2 * * *", ["02:30+13"], ["02:30+12"]),
    ("America/Havana", "2025-11-02", "0 0 * * *", ["00:00-4"], ["00:00-5"]),
    ("Antarctica/Troll", "2026-10-25", "30 1 * * *", ["01:30+2"], ["01:30+0"]),
]


@pytest.mark.parametrize(("zone", "day", "expression", "shifted", "valid"), GAPS)
def test_a_time_that_does_not_exist_follows_the_gap_policy(
    zone: str, day: str, expression: str, shifted: list[str], valid: list[str]
) -> None:
    assert runs(expression, zone, day) == shifted
    assert runs(expression, zone, day, gap=Gap.NEXT_VALID) == valid
    assert runs(expression, zone, day, gap=Gap.SKIP) == []


@pytest.mark.parametrize(("zone", "day", "expression", "first", "second"), FOLDS)
def test_a_time_that_comes_twice_follows_the_fold_policy(
    zone: str, day: str, expression: str, first: list[str], second: list[str]
) -> None:
    assert runs(expression, zone, day) == first
    assert runs(expression, zone, day, fold=Fold.SECOND) == second
    assert runs(expression, zone, day, fold=Fold.BOTH) == first + second


def test_times_just_outside_a_change_are_left_alone() -> None:
    for gap in Gap:
        assert runs("59 1 * * *", "America/New_York", "2026-03-08", gap=gap) == ["01:59-5"]
        assert runs("0 3 * * *", "America/New_York", "2026-03-08", gap=gap) == ["03:00-4"]
    for fold in Fold:
        assert runs("59 0 * * *", "America/New_York", "2026-11-01", fold=fold) == ["00:59-4"]
        assert runs("0 2 * * *", "America/New_York", "2026-11-01", fold=fold) == ["02:00-5"]


def test_a_shifted_time_and_a_real_one_on_the_same_instant_run_once_in_order() -> None:
    found = runs("15,30 2-3 * * *", "America/New_York", "2026-03-08")

    assert found == ["03:15-4", "03:30-4"]
    assert runs("45 2 * * *", "America/New_York", "2026-03-08") == ["03:45-4"]
    # 02:45 lands behind 03:00: order is by instant, not by the wall time it came from.
    assert runs("0,45 2,3 * * *", "America/New_York", "2026-03-08") == ["03:00-4", "03:45-4"]


def test_a_list_of_hours_in_a_fold_keeps_the_order_of_instants() -> None:
    zone, day = "America/New_York", "2026-11-01"

    assert runs("0,30 1,2 * * *", zone, day) == ["01:00-4", "01:30-4", "02:00-5", "02:30-5"]
    both = runs("0,30 1 * * *", zone, day, fold=Fold.BOTH)
    assert both == ["01:00-4", "01:30-4", "01:00-5", "01:30-5"]


@pytest.mark.parametrize("fold", list(Fold))
@pytest.mark.parametrize("gap", list(Gap))
def test_an_hourly_job_runs_every_real_hour_whatever_the_policy(gap: Gap, fold: Fold) -> None:
    for zone, hours in (("America/New_York", 1), ("Antarctica/Troll", 1), ("Asia/Kolkata", 1)):
        place = get_zone(zone)
        at = datetime(2026, 1, 1, tzinfo=UTC)
        found = parse("0 * * * *").next_after(at, place, gap=gap, fold=fold)
        while found is not None and found < datetime(2027, 1, 1, tzinfo=UTC):
            following = parse("0 * * * *").next_after(found, place, gap=gap, fold=fold)
            assert following == found + timedelta(hours=hours)
            found = following


def test_half_an_hour_of_change_moves_an_hourly_job_with_the_wall_clock() -> None:
    place = "Australia/Lord_Howe"

    assert runs("0 * * * *", place, "2026-10-04")[:4] == [
        "00:00+10.5",
        "01:00+10.5",
        "03:00+11",
        "04:00+11",
    ]
    assert runs("30 * * * *", place, "2026-04-05")[:4] == [
        "00:30+11",
        "01:30+11",
        "01:30+10.5",
        "02:30+10.5",
    ]


def test_naming_all_hours_is_the_same_as_a_star() -> None:
    day = "2026-11-01"
    starred = runs("30 * * * *", "America/New_York", day)

    assert len(starred) == 25
    assert runs("30 0-23 * * *", "America/New_York", day) == starred
    assert len(runs("30 */2 * * *", "America/New_York", day)) == 12


def test_a_date_that_a_zone_skipped_runs_the_day_after() -> None:
    assert runs("0 9 30 12 *", "Pacific/Apia", "2011-12-31") == ["09:00+14"]
    assert runs("0 9 30 12 *", "Pacific/Apia", "2011-12-31", gap=Gap.NEXT_VALID) == ["00:00+14"]
    assert runs("0 9 30 12 *", "Pacific/Apia", "2011-12-31", gap=Gap.SKIP) == []


def test_a_search_begun_between_the_two_passes_finds_the_second_pass() -> None:
    place = get_zone("America/New_York")
    yearly = parse("30 1 1 11 *")
    between = datetime(2026, 11, 1, 5, 45, tzinfo=UTC)  # 01:45 before the clocks go back

    assert yearly.next_after(between, place) == datetime(2027, 11, 1, 5, 30, tzinfo=UTC)
    second = datetime(2026, 11, 1, 6, 30, tzinfo=UTC)
    assert yearly.next_after(between, place, fold=Fold.SECOND) == second
    assert yearly.next_after(between, place, fold=Fold.BOTH) == second
    assert parse("30 * 1 11 *").next_after(between, place) == second


def test_a_search_begun_inside_a_gaps_shadow_still_finds_the_shifted_time() -> None:
    place = get_zone("America/New_York")
    found = parse("30 2 * * *").next_after(datetime(2026, 3, 8, 7, 10, tzinfo=UTC), place)

    assert found == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)
