"""A stretch tells the offset of its seconds and, near a change, what was before and after."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.offset_spans import span_at, to_instant, to_second
from cadenza.core.zones import get_zone, offset_at, zone_names


def _offset(second: int, zone: str) -> int:
    return offset_at(to_instant(second), get_zone(zone)) // timedelta(seconds=1)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    st.sampled_from(sorted(zone_names())),
)
def test_a_second_lies_in_its_stretch_at_its_offset(instant: datetime, zone: str) -> None:
    second = to_second(instant)
    stretch = span_at(second, get_zone(zone))

    assert stretch.start <= second < stretch.end
    assert stretch.offset == _offset(second, zone)
    assert stretch.before == _offset(stretch.start - 1, zone) or stretch.before == stretch.offset
    assert stretch.after == _offset(stretch.end, zone)
    assert to_instant(second) == instant.replace(microsecond=0)


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"])
def test_a_change_within_a_day_is_seen_from_either_side(zone: str) -> None:
    day, seen = 86_400, 0
    place = get_zone(zone)
    for second in range(0, to_second(datetime(2099, 1, 1, tzinfo=UTC)), day):
        before, after = _offset(second, zone), _offset(second + day, zone)
        if before == after:
            continue
        seen += 1
        early, late = span_at(second, place), span_at(second + day, place)
        assert (early.offset, early.after) == (before, after)
        assert (late.before, late.offset) == (before, after)
        assert early.end == late.start
        assert second < early.end <= second + day

    assert seen > 50
