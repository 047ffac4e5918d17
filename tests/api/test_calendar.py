"""The calendar over HTTP: one truth for all accounts, free slots, clock changes, and addresses for programs."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from cadenza.core.rollup import DeliveryState
from cadenza.posts.pills import Pill
from cadenza.posts.show_calendar import Entry
from cadenza.posts.write_ics import write_ics
from tests.api.conftest import Place
from tests.api.test_posts import ADA, HOME, act, in_the_future, program, write

CALENDAR = f"{HOME}/calendar"


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def planned(place: Place, editor: httpx2.AsyncClient, text: str, **ahead: int) -> Any:
    made = await write(editor, text)
    at = await in_the_future(place, **ahead)
    return await act(editor, made, "schedule", at=at, accounts=[ADA])


async def test_a_month_shows_what_is_due_and_which_slots_are_free(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    slots = {"slots": {str(day): ["09:00"] for day in range(7)}, "zone": "Europe/Berlin"}
    await editor.put(f"{HOME}/accounts/account-of-ada/queue/schedule", json=slots)
    await planned(place, editor, "near", days=2)
    await planned(place, editor, "far", days=40)
    query = {"end": await in_the_future(place, days=7)}
    shown = (await editor.get(CALENDAR, params=query)).json()
    assert [entry["text"] for entry in shown["entries"]] == ["near"]
    assert shown["zone"] == "Europe/Berlin"
    assert {ghost["account_id"] for ghost in shown["free"]} == {"account-of-ada"}
    assert 6 <= len(shown["free"]) <= 8
    bare = (await editor.get(CALENDAR, params=query | {"free_slots": "false"})).json()
    assert bare["free"] == []


async def test_days_on_which_clocks_are_set_are_marked(editor: httpx2.AsyncClient) -> None:
    span = {"start": "2031-03-01T00:00:00Z", "end": "2031-04-15T00:00:00Z"}
    berlin = (await editor.get(CALENDAR, params=span)).json()
    assert [(each["day"], each["minutes"]) for each in berlin["clock_changes"]] == [
        ("2031-03-30", 60)
    ]
    tokyo = (await editor.get(CALENDAR, params=span | {"zone": "Asia/Tokyo"})).json()
    assert tokyo["clock_changes"] == []


async def test_spans_that_make_no_sense_are_refused(editor: httpx2.AsyncClient) -> None:
    for span in (
        {"start": "2031-04-01T00:00:00Z", "end": "2031-03-01T00:00:00Z"},
        {"start": "2031-01-01T00:00:00Z", "end": "2032-01-01T00:00:00Z"},
        {"start": "2031-01-01T00:00:00"},
        {"zone": "Moon/Sea"},
    ):
        assert (await editor.get(CALENDAR, params=span)).status_code == 422, span


async def test_a_calendar_program_reads_by_its_address_until_that_is_revoked(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    timed = await planned(place, editor, "We open; at nine, sharp\nreally", hours=5)
    made = (await editor.post(f"{CALENDAR}/feeds", json={"name": "telephone"})).json()
    path = urlsplit(made["url"]).path
    stranger = await place.client()
    answer = await stranger.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/calendar")
    lines = answer.text.replace("\r\n ", "").split("\r\n")
    assert f"UID:{timed['places'][0]['delivery_id']}@localhost" in lines
    assert any(line.startswith("SUMMARY:We open\\; at nine\\, sharp") for line in lines)
    listed = (await editor.get(f"{CALENDAR}/feeds")).json()
    assert listed[0]["read_at"] is not None
    assert "url" not in listed[0]
    stored = await place.rows("SELECT token_hash FROM calendar_feed")
    assert stored[0]["token_hash"] not in made["url"]
    assert (await stranger.get(path.replace("feeds/", "feeds/A"))).status_code == 404
    assert (await stranger.get(path.replace("of-ada", "of-ben"))).status_code == 404
    assert (await editor.delete(f"{CALENDAR}/feeds/{made['id']}")).status_code == 200
    assert (await stranger.get(path)).status_code == 404


async def test_an_address_ends_with_its_makers_membership(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = (await editor.post(f"{CALENDAR}/feeds", json={"name": "telephone"})).json()
    path = urlsplit(made["url"]).path
    owner, stranger = await place.client("owner"), await place.client()
    assert (await stranger.get(path)).status_code == 200
    gone = await owner.delete(f"{HOME}/members/{place.ids['editor.member']}")
    assert gone.status_code < 300, gone.text
    assert (await stranger.get(path)).status_code == 404


async def test_a_key_for_calendars_reads_them_and_nothing_else(place: Place) -> None:
    reader = await program(place, "calendar:read")
    assert (await reader.get(f"{HOME}/calendar.ics")).status_code == 200
    assert (await reader.get(CALENDAR)).status_code == 200
    assert (await reader.get(f"{HOME}/posts")).status_code == 403


def entry(text: str) -> Entry:
    at = datetime.fromisoformat("2031-03-30T09:00:00+02:00")
    pill = Pill(
        delivery_id="one",
        post_id="post",
        account_id="account",
        handle="@ada",
        provider="mastodon",
        channel="mastodon",
        state=DeliveryState.SCHEDULED,
        label="Scheduled",
        at=at,
        zone="Europe/Berlin",
        wall_time=None,
        url="https://example.org/1\r\nATTENDEE:x",
    )
    return Entry(pill, "", text)


def test_lines_are_folded_at_75_bytes_and_no_text_breaks_out() -> None:
    text = "äöü👩‍🚀" * 30 + "\r\nEND:VEVENT\x00"
    now = datetime.fromisoformat("2031-03-01T00:00:00+00:00")
    written = write_ics("Ada's; home", [entry(text)], now=now, host="house.test")
    lines = written.split("\r\n")
    assert all(len(line.encode()) <= 75 for line in lines)
    whole = written.replace("\r\n ", "")
    assert "DTSTART:20310330T070000Z" in whole
    assert whole.count("\r\nEND:VEVENT\r\n") == 1
    assert "ATTENDEE" not in whole
    assert "X-WR-CALNAME:Ada's\\; home\r\n" in whole
    assert written == write_ics("Ada's; home", [entry(text)], now=now, host="house.test")
    later = write_ics("x", [entry(text)], now=now + timedelta(days=1), host="house.test")
    assert "UID:one@house.test" in later
