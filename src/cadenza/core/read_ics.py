"""Reads whole days from a calendar file (iCalendar, RFC 5545): holidays that somebody exported.

Only events of whole days count; a meeting at an hour is no holiday and is counted as left out, like a canceled event.
An event that comes again every year is read for the years that are asked for. Any other repetition is refused, with
the event's name: a rule that is read wrongly would send on a holiday.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

LONGEST = 60  # days of one event
MOST_EVENTS = 5_000
_DAY = timedelta(days=1)


class IcsError(ValueError):
    """The text is no calendar, or holds something that cannot be read."""


@dataclass(frozen=True, slots=True)
class IcsDays:
    """Dates with the names of their events, and how many events were no whole days."""

    days: dict[date, str]
    left_out: int


def read_ics(text: str, *, first: date, last: date) -> IcsDays:
    """Read the whole days from `first` to `last`, both included."""
    days: dict[date, str] = {}
    left_out = 0
    for number, event in enumerate(_events(text)):
        if number >= MOST_EVENTS:
            raise IcsError(f"There are more than {MOST_EVENTS} events: export a shorter time.")
        name = _unescaped(event.get("SUMMARY", ("", "a holiday"))[1])
        begins, value = event.get("DTSTART", ("", ""))
        if event.get("STATUS", ("", ""))[1].upper() == "CANCELLED" or not _is_date(begins, value):
            left_out += 1
            continue
        start, length = _span(event, name)
        for begin in _repeated(event, start, name, last):
            for day in (begin + _DAY * n for n in range(length)):
                if first <= day <= last:
                    days.setdefault(day, name)
    return IcsDays(dict(sorted(days.items())), left_out)


def _events(text: str) -> Iterator[dict[str, tuple[str, str]]]:
    """Yield the events: each property's parameters and value, by name."""
    lines = text.removeprefix("\ufeff").replace("\r\n ", "").replace("\r\n\t", "")
    lines = lines.replace("\n ", "").replace("\n\t", "")
    event: dict[str, tuple[str, str]] | None = None
    nested = 0
    seen = False
    for line in lines.splitlines():
        name, _, value = line.partition(":")
        name, _, parameters = name.partition(";")
        name, value = name.strip().upper(), value.strip()
        seen = seen or (name, value.upper()) == ("BEGIN", "VCALENDAR")
        if name == "BEGIN" and value.upper() == "VEVENT":
            event, nested = {}, 0
        elif event is None:
            continue
        elif name in ("BEGIN", "END") and value.upper() != "VEVENT":
            nested += 1 if name == "BEGIN" else -1  # an alarm within the event
        elif name == "END":
            yield event
            event = None
        elif not nested:
            if name in ("RDATE", "EXDATE", "RRULE") and name in event:
                raise IcsError(f"An event has more than one {name}: export its days one by one.")
            event.setdefault(name, (parameters.upper(), value))
    if not seen:
        raise IcsError("This is no calendar file: it has no BEGIN:VCALENDAR.")
    if event is not None:
        raise IcsError("The file ends within an event: it was cut off.")


def _is_date(parameters: str, value: str) -> bool:
    return "VALUE=DATE" in parameters.split(";") or (len(value) == 8 and value.isdecimal())


def _span(event: dict[str, tuple[str, str]], name: str) -> tuple[date, int]:
    """Return the first day of an event and how many there are; its end is not one of them."""
    start = _date(event["DTSTART"][1], name)
    if "DTEND" in event:
        length = (_date(event["DTEND"][1], name) - start).days
    elif "DURATION" in event:
        said = event["DURATION"][1].upper()
        digits = said.removeprefix("P").rstrip("DW")
        if not digits.isdecimal() or said[-1:] not in ("D", "W"):
            raise IcsError(f"{name}: {said!r} is no length in days.")
        length = int(digits) * (7 if said.endswith("W") else 1)
    else:
        length = 1
    if not 0 <= length <= LONGEST:
        raise IcsError(f"{name} lasts {length} days: at most {LONGEST} are read.")
    return start, max(1, length)


def _repeated(
    event: dict[str, tuple[str, str]], start: date, name: str, last: date
) -> Iterator[date]:
    """Yield the first days of an event: one, or one a year."""
    if "RDATE" in event or "EXDATE" in event:
        raise IcsError(f"{name} has days of its own list: export its days one by one.")
    if "RRULE" not in event:
        yield start
        return
    parts = [part.partition("=") for part in event["RRULE"][1].upper().split(";") if part]
    said = {part: value for part, _, value in parts}
    by = {"BYMONTH": str(start.month), "BYMONTHDAY": str(start.day)}
    known = {"FREQ", "INTERVAL", "UNTIL", "COUNT", "WKST", *by}
    other = any(said.get(part, usual) != usual for part, usual in by.items())
    numbers = [said.get(part, "1") for part in ("INTERVAL", "COUNT")]
    if (
        said.get("FREQ") != "YEARLY"
        or not said.keys() <= known
        or other
        or not all(n.isdecimal() and 0 < int(n) < 10_000 for n in numbers)
    ):
        raise IcsError(f"{name} repeats by {event['RRULE'][1]!r}: only every year is read.")
    until = _date(said["UNTIL"][:8], name) if "UNTIL" in said else last
    left = int(said.get("COUNT", "9999"))
    for year in range(start.year, last.year + 1, int(said.get("INTERVAL", "1"))):
        if left == 0:
            return
        try:
            day = start.replace(year=year)
        except ValueError:
            continue  # the 29th of February
        if day > until:
            return
        left -= 1
        yield day


def _date(value: str, name: str) -> date:
    if len(value) < 8 or not value[:8].isdecimal():
        raise IcsError(f"{name}: {value!r} is no date.")
    try:
        return date(int(value[:4]), int(value[4:6]), int(value[6:8]))
    except ValueError:
        raise IcsError(f"{name}: {value!r} is no date.") from None


def _unescaped(text: str) -> str:
    for escaped, plain in (("\\n", " "), ("\\N", " "), ("\\,", ","), ("\\;", ";"), ("\\\\", "\\")):
        text = text.replace(escaped, plain)
    return text.strip()[:200] or "a holiday"
