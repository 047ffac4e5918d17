"""Documents of Agenda (its collection is usually `agendaJobs`), read as jobs and schedules.

Priorities are turned round: there the higher goes first, here the lower. Intervals in words are
understood as far as they are numbers and units; what is not understood is refused by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from cadenza.engine.adopt.model import (
    ForeignJob,
    ForeignSchedule,
    Found,
    LeftOut,
    refuse_unknown,
)
from cadenza.engine.adopt.plain import TURNED, differs_by_release, to_instant, to_payload

_PAST = {"lastModifiedBy", "lastRunAt", "lastFinishedAt", "failCount", "failReason", "failedAt"}
_KNOWN = frozenset(
    {
        "_id", "name", "data", "type", "priority", "nextRunAt", "repeatInterval", "repeatTimezone",
        "lockedAt", "disabled", "unique", "uniqueOpts", "endDate", "progress", *_PAST,
    }
)  # fmt: skip
_DAY = 86400
_UNITS = {
    "second": 1, "minute": 60, "hour": 3600, "day": _DAY, "week": 7 * _DAY,
    "month": 30 * _DAY, "year": 365 * _DAY,  # as Agenda counts them
}  # fmt: skip
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_PART = re.compile(rf"(?:(\d+(?:\.\d+)?|{'|'.join(_COUNTS)})\s+)?({'|'.join(_UNITS)})s?\b")
_CRON = re.compile(r"@[a-z]+|[\d*/,\-#LW? a-zA-Z]+")
_FIELDS = (5, 6)  # of a cron expression
_TRIES = "Agenda does not try again after an error; here the task's retries decide"


def read(document: Mapping[str, Any], *, queue: str = "default", zone: str = "UTC") -> Found:
    """Read one document."""
    source = f"agenda {document['_id']}"
    strange = refuse_unknown(source, document, _KNOWN)
    if strange is not None:
        return strange
    task = str(document["name"])
    notes = [_TRIES]
    if document.get("unique"):
        notes.append("its unique query is not carried over: give the task a unique key")
    if document.get("lockedAt") is not None:
        notes.append("it was locked, so it may be running there")
    if document.get("failCount"):
        notes.append(f"it had failed {document['failCount']} times there; here it counts again")
    options: dict[str, Any] = {"queue": queue, "priority": -int(document.get("priority") or 0)}
    if options["priority"]:
        notes.append(TURNED)
    payload = to_payload(document.get("data"))
    if document.get("repeatInterval"):
        return _recurring(document, source, task, payload, options=options, notes=notes, zone=zone)
    run_at = to_instant(document.get("nextRunAt"))
    if run_at is None:
        return LeftOut(source=source, reason="finished: it has no next run", refused=False)
    if document.get("disabled"):
        return LeftOut(source=source, reason="disabled there", refused=False)
    options["run_at"] = run_at
    return ForeignJob(
        source=source, task=task, payload=payload, options=options, notes=tuple(notes)
    )


def _recurring(
    document: Mapping[str, Any],
    source: str,
    task: str,
    payload: dict[str, Any],
    *,
    options: dict[str, Any],
    notes: list[str],
    zone: str,
) -> Found:
    interval = document["repeatInterval"]
    every = to_seconds(interval)
    if every is None and not _looks_like_cron(str(interval)):
        reason = (
            f"repeatInterval {interval!r} is no cron and no interval in words: schedule it by hand"
        )
        return LeftOut(source=source, reason=reason)
    if every is None and differs_by_release(str(interval)):
        reason = f"cron {interval!r} names other days in Agenda 5 than in 6: schedule it by hand"
        return LeftOut(source=source, reason=reason)
    if every is not None:
        notes.append("intervals are counted from a fixed instant here, from the last run there")
    notes.append("runs that were missed collapse into one, and runs never overlap")
    next_at = to_instant(document.get("nextRunAt"))
    if document.get("disabled"):
        notes.append("disabled there, so paused here; a run that was due there is not made up")
    elif next_at is None:
        notes.append("it had no next run there, so it is paused here")
    single = document.get("type") == "single"
    return ForeignSchedule(
        source=source,
        name=task if single else f"{task} {document['_id']}",
        task=task,
        payload=payload,
        cron=None if every is not None else str(interval),
        every=every,
        anchor=next_at if every is not None else None,
        zone=str(document.get("repeatTimezone") or zone),
        repeat_until=to_instant(document.get("endDate")),
        next_at=next_at,
        paused=bool(document.get("disabled")) or next_at is None,
        options=options,
        notes=tuple(notes),
    )


def to_seconds(interval: object) -> float | None:
    """Read an interval in words or in milliseconds; None: it is something else."""
    if isinstance(interval, int | float) and not isinstance(interval, bool):
        return interval / 1000
    text = str(interval).strip().lower().replace(" and ", " ")
    if text.isdigit():
        return int(text) / 1000
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip(" ,"):
        return None
    return sum(_amount(count) * _UNITS[unit] for count, unit in parts)


def _amount(word: str) -> float:
    return _COUNTS[word] if word in _COUNTS else float(word or 1)


def _looks_like_cron(text: str) -> bool:
    if _CRON.fullmatch(text) is None:
        return False
    return text.startswith("@") or len(text.split()) in _FIELDS
