"""Writes a calendar as iCalendar (RFC 5545), for calendar programs that read an address.

Pure: entries in, text out. Instants are in UTC, lines are folded at 75 bytes without cutting a character, and
an event keeps its name (UID) when it moves. Limit: one event a delivery, of a quarter of an hour.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.show_calendar import Entry

WIDTH = 75  # bytes of a line
STATUS = {State.DRAFT: "TENTATIVE", State.MISSED: "CANCELLED", State.FAILED: "CANCELLED"}


def write_ics(name: str, entries: Iterable[Entry], *, now: datetime, host: str) -> str:
    """Return the whole calendar."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Cadenza//Calendar//EN",
        "CALSCALE:GREGORIAN",
        f"X-WR-CALNAME:{_text(name)}",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        "X-PUBLISHED-TTL:PT1H",
        *(line for entry in entries for line in _event(entry, now, host)),
        "END:VCALENDAR",
    ]
    return "".join(f"{folded}\r\n" for line in lines for folded in _fold(line))


def _event(entry: Entry, now: datetime, host: str) -> Iterator[str]:
    pill = entry.pill
    words = entry.title or entry.text or "A post without words"
    told = [entry.text, f"{pill.label} on {pill.channel} ({pill.handle})"]
    if pill.reason:
        told.append(pill.reason)
    yield "BEGIN:VEVENT"
    yield f"UID:{pill.delivery_id}@{host}"
    yield f"DTSTAMP:{_instant(now)}"
    yield f"DTSTART:{_instant(pill.at)}"
    yield "DURATION:PT15M"
    yield f"SUMMARY:{_text(f'{words[:80]} ({pill.channel})')}"
    yield f"DESCRIPTION:{_text(chr(10).join(each for each in told if each))}"
    yield f"STATUS:{STATUS.get(pill.state, 'CONFIRMED')}"
    yield f"CATEGORIES:{_text(pill.channel)}"
    yield "TRANSP:TRANSPARENT"
    if pill.url and not any(ord(letter) <= 32 for letter in pill.url):
        yield f"URL:{pill.url}"
    yield "END:VEVENT"


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _text(said: str) -> str:
    """Escape a text value; control characters have no place in one."""
    plain = said.replace("\r\n", "\n").replace("\r", "\n")
    plain = "".join(
        each for each in plain if each == "\n" or (ord(each) >= 32 and ord(each) != 127)
    )
    escaped = plain.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return escaped.replace("\n", "\\n")


def _fold(line: str) -> Iterator[str]:
    """Cut a line into pieces of 75 bytes; each further one begins with a space."""
    piece, size = "", 0
    for letter in line:
        width = len(letter.encode())
        if size + width > WIDTH:
            yield piece
            piece, size = " ", 1
        piece += letter
        size += width
    yield piece
