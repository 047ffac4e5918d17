from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest

from cadenza.core.zones import (
    Fold,
    Gap,
    Mark,
    NaiveDatetimeError,
    UnknownZoneError,
    as_utc,
    day_bounds,
    get_zone,
    local,
    local_day,
    resolve,
    tz_version,
    zone_names,
)

NEW_YORK = get_zone("America/New_York")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "day", "wall", "shift", "next_valid"),
    [
        ("America/New_York", "2026-03-08", "02:30", "2026-03-08T07:30", "2026-03-08T07:00"),
        # 30 minutes of daylight saving: 02:00 becomes 02:30
        ("Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03T15:45", "2026-10-03T15:30"),
        # two hours of it: 01:00 becomes 03:00
        ("Antarctica/Troll", "2026-03-29", "01:45", "2026-03-29T01:45", "2026-03-29T01:00"),
        # midnight does not exist
        ("Africa/Cairo", "2026-04-24", "00:10", "2026-04-23T22:10", "2026-04-23T22:00"),
        ("America/Santiago", "2026-09-06", "00:20", "2026-09-06T04:20", "2026-09-06T04:00"),
        ("America/Havana", "2025-03-09", "00:30", "2025-03-09T05:30", "2025-03-09T05:00"),
        # the clock goes forward when Ramadan ends
        ("Africa/Casablanca", "2026-03-22", "02:15", "2026-03-22T02:15", "2026-03-22T02:00"),
        # the whole date does not exist: one gap of 24 hours
        ("Pacific/Apia", "2011-12-30", "09:00", "2011-12-30T19:00", "2011-12-30T10:00"),
    ],
)
def test_a_wall_time_in_a_gap_follows_the_policy(
    zone: str, day: str, wall: str, shift: str, next_valid: str
) -> None:
    where = date.fromisoformat(day), time.fromisoformat(wall), get_zone(zone)
    assert resolve(*where).mark is Mark.GAP
    assert resolve(*where).instants == (utc(shift),)
    assert resolve(*where, gap=Gap.NEXT_VALID).instants == (utc(next_valid),)
    assert resolve(*where, gap=Gap.SKIP).instants == ()


@pytest.mark.parametrize(
    ("zone", "day", "wall", "first", "second"),
    [
        ("America/New_York", "2026-11-01", "01:30", "2026-11-01T05:30", "2026-11-01T06:30"),
        ("Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45", "2026-04-04T15:15"),
        ("Antarctica/Troll", "2026-10-25", "02:30", "2026-10-25T00:30", "2026-10-25T02:30"),
        ("Africa/Cairo", "2026-10-29", "23:30", "2026-10-29T20:30", "2026-10-29T21:30"),
        ("America/Santiago", "2026-04-04", "23:15", "2026-04-05T02:15", "2026-04-05T03:15"),
        ("America/Havana", "2025-11-02", "00:00", "2025-11-02T04:00", "2025-11-02T05:00"),
        ("Africa/Casablanca", "2026-02-15", "02:30", "2026-02-15T01:30", "2026-02-15T02:30"),
    ],
)
def test_a_wall_time_in_a_fold_follows_the_policy(
    zone: str, day: str, wall: str, first: str, second: str
) -> None:
    where = date.fromisoformat(day), time.fromisoformat(wall), get_zone(zone)
    assert resolve(*where).mark is Mark.FOLD
    assert resolve(*where).instants == (utc(first),)
    assert resolve(*where, fold=Fold.SECOND).instants == (utc(second),)
    assert resolve(*where, fold=Fold.BOTH).instants == (utc(first), utc(second))


def test_a_quarter_hour_zone_needs_no_special_care() -> None:
    resolved = resolve(date(2026, 6, 1), time(9), get_zone("Asia/Kathmandu"))
    assert resolved.instants == (utc("2026-06-01T03:15"),)
    assert resolved.mark is Mark.NONE


def test_days_meet_even_where_midnight_does_not_exist() -> None:
    santiago = get_zone("America/Santiago")
    start, end = day_bounds(date(2026, 9, 6), santiago)
    assert (start, end) == (utc("2026-09-06T04:00"), utc("2026-09-07T03:00"))
    assert local_day(start, santiago) == date(2026, 9, 6)
    assert local_day(start - timedelta(seconds=1), santiago) == date(2026, 9, 5)


def test_long_and_short_days_have_their_true_length() -> None:
    start, end = day_bounds(date(2026, 3, 8), NEW_YORK)
    assert end - start == timedelta(hours=23)
    start, end = day_bounds(date(2026, 11, 1), NEW_YORK)
    assert end - start == timedelta(hours=25)


def test_a_date_that_was_skipped_whole_is_empty() -> None:
    apia = get_zone("Pacific/Apia")
    start, end = day_bounds(date(2011, 12, 30), apia)
    assert start == end == utc("2011-12-30T10:00")
    assert local_day(start, apia) == date(2011, 12, 31)
    assert local_day(start - timedelta(seconds=1), apia) == date(2011, 12, 29)


def test_a_local_time_equals_its_instant_even_in_a_fold() -> None:
    for text in ("2026-11-01T05:30", "2026-11-01T06:30"):
        there = local(utc(text), NEW_YORK)
        assert there == utc(text)
        assert hash(there) == hash(utc(text))
        assert there.time() == time(1, 30)
    assert local(utc("2026-11-01T06:30"), NEW_YORK).fold == 1


def test_local_times_subtract_in_real_time() -> None:
    evening = local(utc("2026-03-08T04:00"), NEW_YORK)
    assert local(utc("2026-03-09T04:00"), NEW_YORK) - evening == timedelta(hours=24)


def test_a_datetime_without_an_offset_is_refused_with_advice() -> None:
    for ask in (as_utc, lambda naive: local(naive, NEW_YORK), lambda n: local_day(n, NEW_YORK)):
        with pytest.raises(NaiveDatetimeError, match=r"has no offset.*resolve it as a wall time"):
            ask(datetime(2026, 3, 8, 2, 30))  # noqa: DTZ001


def test_a_wall_time_with_a_zone_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="must not carry a zone"):
        resolve(date(2026, 3, 8), time(2, 30, tzinfo=UTC), NEW_YORK)


def test_any_offset_is_turned_into_utc() -> None:
    given = datetime(2026, 3, 8, 9, 0, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    assert as_utc(given).tzinfo is UTC
    assert as_utc(given) == given


def test_an_unknown_zone_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownZoneError, match="Did you mean 'America/New_York'"):
        get_zone("america/newyork")
    for name in ("", "../../etc/passwd", "/etc/localtime", "America", "EST5EDT\0"):
        with pytest.raises(UnknownZoneError, match="not an IANA time zone"):
            get_zone(name)


def test_a_zone_is_read_once() -> None:
    assert get_zone("Europe/Paris") is get_zone("Europe/Paris")


def test_every_name_can_be_loaded_and_the_version_is_told() -> None:
    assert len(zone_names()) > 590
    for name in zone_names():
        assert get_zone(name).name == name
    assert tz_version()[:2] == "20"
