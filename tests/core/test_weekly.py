from datetime import date, time

import pytest

from cadenza.core.slots import slots_of
from cadenza.core.weekly import (
    ScheduleError,
    Weekday,
    WeeklySchedule,
    read_policies,
    read_times,
    write_times,
)
from cadenza.core.zones import Fold, Gap, get_zone

PARIS = get_zone("Europe/Paris")
NOTHING: tuple[time, ...] = ()


def test_sunday_is_day_nought() -> None:
    assert Weekday.of(date(2026, 3, 8)) is Weekday.SUNDAY
    assert Weekday.of(date(2026, 3, 9)) is Weekday.MONDAY
    assert Weekday.of(date(2026, 3, 14)) is Weekday.SATURDAY


def test_both_shapes_read_alike() -> None:
    as_map = {"1": [{"hour": 9, "minute": 0}, {"hour": 15, "minute": 0}], "3": ["12:00"]}
    as_list = [
        {"dayOfWeek": 3, "hour": 12, "minute": 0},
        {"dayOfWeek": 1, "hour": 15, "minute": 0},
        {"day_of_week": 1, "hour": 9, "minute": 0},
    ]
    times = read_times(as_map)
    assert times == read_times(as_list)
    assert times[Weekday.MONDAY] == (time(9), time(15))
    assert times[Weekday.WEDNESDAY] == (time(12),)
    assert times[Weekday.SUNDAY] == ()


def test_repeated_times_collapse_and_times_ascend() -> None:
    times = read_times({"0": ["18:30", "09:00", "18:30", {"hour": 9, "minute": 0}]})
    assert times[Weekday.SUNDAY] == (time(9), time(18, 30))
    schedule = WeeklySchedule(PARIS, ((time(9), time(8), time(9)), *[NOTHING] * 6))
    assert schedule.times[0] == (time(8), time(9))


def test_what_is_written_reads_back() -> None:
    times = read_times({"0": ["18:30"], "6": ["00:00", "23:59"]})
    assert read_times(write_times(times)) == times
    assert set(write_times(times)) == {"0", "6"}


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        ({"7": ["09:00"]}, "day '7': the day of the week is 0"),
        ({"Mon": ["09:00"]}, "day 'Mon'"),
        ({"1": ["24:00"]}, "day '1', time 1: a time is HH:MM"),
        ({"1": ["09:00", "9am"]}, "day '1', time 2"),
        ({"1": ["9:00"]}, "a time is HH:MM"),
        ({"1": [{"hour": True, "minute": 0}]}, "a time is HH:MM"),
        ({"1": [{"hour": 9, "minute": 60}]}, "a time is HH:MM"),
        ({"1": [{"hour": 9.5, "minute": 0}]}, "a time is HH:MM"),
        ({"1": "09:00"}, "needs a list of times"),
        ({"1": None}, "needs a list of times"),
        ([{"hour": 9, "minute": 0}], "slot 1: the day of the week"),
        ([{"dayOfWeek": 1, "hour": 9, "minute": 0}, 5], "slot 2: needs dayOfWeek"),
        ("09:00", "Weekly times are a map"),
        (None, "Weekly times are a map"),
        ({"1": [time(9, 0, 30)]}, "whole minutes"),
    ],
)
def test_what_cannot_be_read_is_named(shape: object, complaint: str) -> None:
    with pytest.raises(ScheduleError, match=complaint):
        read_times(shape)


def test_a_cap_of_nought_is_refused_with_advice() -> None:
    with pytest.raises(ScheduleError, match="pause or disable"):
        WeeklySchedule(PARIS, (NOTHING,) * 7, max_per_day=0)


def test_a_week_has_seven_days() -> None:
    with pytest.raises(ScheduleError, match="7 days"):
        WeeklySchedule(PARIS, ((time(9),),))


def test_a_slot_may_meet_a_change_of_clocks_in_its_own_way() -> None:
    shape = {"0": [{"hour": 2, "minute": 30, "gap": "skip"}, "01:30", {"hour": 4, "minute": 0}]}
    policies = read_policies(shape)
    assert [(p.weekday, p.wall_time, p.gap, p.fold) for p in policies] == [
        (0, time(2, 30), Gap.SKIP, Fold.FIRST)
    ]
    schedule = WeeklySchedule(get_zone("America/New_York"), read_times(shape), policies=policies)
    assert [s.wall_time for s in slots_of(schedule, date(2026, 3, 8))] == [time(1, 30), time(4)]
    assert len(slots_of(schedule, date(2026, 3, 15))) == 3
    assert read_policies(write_times(schedule.times, policies)) == policies


def test_an_unknown_policy_is_refused_with_the_choices() -> None:
    with pytest.raises(ScheduleError, match="gap is shift or skip or next_valid"):
        read_policies([{"dayOfWeek": 0, "hour": 2, "minute": 30, "gap": "maybe"}])
