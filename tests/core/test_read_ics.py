from datetime import date

import pytest

from cadenza.core.read_ics import IcsError, read_ics

FIRST, LAST = date(2026, 1, 1), date(2028, 12, 31)


def calendar(*events: str) -> str:
    inside = "".join(f"BEGIN:VEVENT\r\n{event}\r\nEND:VEVENT\r\n" for event in events)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{inside}END:VCALENDAR\r\n"


def days(text: str) -> list[str]:
    return [day.isoformat() for day in read_ics(text, first=FIRST, last=LAST).days]


def test_the_end_of_a_whole_day_event_is_not_one_of_its_days() -> None:
    text = calendar("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Christmas")
    assert days(text) == ["2026-12-24", "2026-12-25", "2026-12-26"]


def test_a_day_without_an_end_is_one_day_and_a_duration_is_counted() -> None:
    assert days(calendar("DTSTART;VALUE=DATE:20260501")) == ["2026-05-01"]
    assert len(days(calendar("DTSTART;VALUE=DATE:20260501\r\nDURATION:P1W"))) == 7


def test_folded_lines_and_escaped_names_are_read() -> None:
    text = calendar("DTSTART;VALUE=DATE:20260501\r\nSUMMARY:Labour\\, all\r\n  day\r\nX-A:1")
    assert read_ics(text, first=FIRST, last=LAST).days == {date(2026, 5, 1): "Labour, all day"}


def test_a_meeting_at_an_hour_and_a_canceled_day_are_left_out_and_counted() -> None:
    text = calendar("DTSTART:20260501T090000Z", "DTSTART;VALUE=DATE:20260502\r\nSTATUS:CANCELLED")
    found = read_ics(text, first=FIRST, last=LAST)
    assert (found.days, found.left_out) == ({}, 2)


def test_every_year_is_read_for_the_years_asked_for() -> None:
    rule = "DTSTART;VALUE=DATE:20201225\r\nRRULE:FREQ=YEARLY"
    assert days(calendar(rule)) == ["2026-12-25", "2027-12-25", "2028-12-25"]
    assert days(calendar(rule + ";UNTIL=20271226")) == ["2026-12-25", "2027-12-25"]
    assert days(calendar(rule + ";COUNT=7")) == ["2026-12-25"]


def test_an_alarm_within_an_event_does_not_hide_its_day() -> None:
    alarm = "BEGIN:VALARM\r\nDTSTART:20200101T000000Z\r\nEND:VALARM\r\n"
    assert days(calendar(alarm + "DTSTART;VALUE=DATE:20260501")) == ["2026-05-01"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "no BEGIN:VCALENDAR"),
        (calendar("DTSTART;VALUE=DATE:20261332"), "is no date"),
        (calendar("DTSTART;VALUE=DATE:20260501\r\nRRULE:FREQ=MONTHLY"), "only every year"),
        (
            calendar("DTSTART;VALUE=DATE:20260501\r\nRRULE:FREQ=YEARLY;BYDAY=2MO"),
            "only every year",
        ),
        (calendar("DTSTART;VALUE=DATE:20260501\r\nEXDATE:20260502"), "one by one"),
        (calendar("DTSTART;VALUE=DATE:20260501\r\nDTEND;VALUE=DATE:20280501"), "at most 60"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260501", "cut off"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(IcsError, match=message):
        read_ics(text, first=FIRST, last=LAST)
