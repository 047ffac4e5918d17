"""Holidays hold when a message is planned and when it is sent: dates of one's own, of a file, and of a country."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from cadenza.core.clock import SystemClock
from tests.outreach.conftest import MONDAY, NEW_YORK, Office
from tests.outreach.test_http import Desk, desk

__all__ = ["desk"]
ZONE = ZoneInfo(NEW_YORK)
ICS = (
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{day}\nSUMMARY:Stocktaking\nEND:VEVENT\n"
    "BEGIN:VEVENT\nDTSTART:20270101T090000Z\nEND:VEVENT\nEND:VCALENDAR\n"
)


async def test_no_message_is_planned_on_a_holiday(office: Office) -> None:
    await office.account("mailbox", holidays=["2026-06-02"], holiday_calendars=["US"])
    made = await office.ready("mailbox", people=400)
    days = {row["due_at"].astimezone(ZONE).date() for row in await office.deliveries(made)}
    assert date(2026, 6, 1) in days
    assert date(2026, 6, 2) not in days  # its own
    assert date(2026, 6, 19) not in days  # Juneteenth
    assert date(2026, 6, 18) in days


async def test_a_message_that_is_due_on_a_holiday_moves_to_the_next_day(office: Office) -> None:
    today = SystemClock().now().astimezone(ZONE).date()
    await office.account("mailbox", always=True, holidays=[today.isoformat()])
    made = await office.ready("mailbox", people=1, now=MONDAY)
    await office.make_due()
    assert await office.send_due() == []
    (left,) = await office.deliveries(made)
    moved = left["due_at"].astimezone(ZONE).date()
    assert moved in (today + timedelta(days=1), today + timedelta(days=2))  # midnight may pass
    assert (left["attempts"], left["deferrals"]) == (0, 1)


async def test_a_calendar_file_and_a_country_are_added_over_http(desk: Desk) -> None:
    admin = Desk(desk.place, await desk.place.client("admin"))
    day = SystemClock().now().date() + timedelta(days=30)
    text = ICS.format(day=day.strftime("%Y%m%d"))
    path = "/accounts/account-of-ada/holidays"
    added = await admin.ask("POST", f"{path}/import", ics=text)
    assert added["added"] == [{"day": day.isoformat(), "name": "Stocktaking", "calendar": None}]
    assert added["left_out"] == 1
    again = await admin.ask("POST", f"{path}/import", ics=text)
    assert (again["added"], again["there_already"]) == ([], 1)
    shown = await admin.ask("PATCH", "/accounts/account-of-ada", holiday_calendars=["de-by"])
    assert (shown["holidays"], shown["holiday_calendars"]) == ([day.isoformat()], ["DE-BY"])
    listed = await desk.ask("GET", path)
    assert {"Stocktaking", "Christmas Day"} <= {each["name"] for each in listed}
    assert [each["day"] for each in listed] == sorted(each["day"] for each in listed)


async def test_what_is_no_calendar_is_refused_with_what_to_do(desk: Desk) -> None:
    admin = Desk(desk.place, await desk.place.client("admin"))
    refused = await admin.ask("POST", "/accounts/account-of-ada/holidays/import", 422, ics="hello")
    assert "no calendar file" in str(refused)
    refused = await admin.ask("PATCH", "/accounts/account-of-ada", 422, holiday_calendars=["DE-XX"])
    assert "BY" in str(refused)
