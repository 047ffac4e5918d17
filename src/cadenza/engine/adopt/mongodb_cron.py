"""Documents of the Node package mongodb-cron, read as jobs and schedules.

There a document has no task: the caller names one, and the rest of the document is its payload.
Its cron keeps its dialect, and its next run its time, also one that is off the cron's grid.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cadenza.core.cron import Dialect
from cadenza.engine.adopt.model import ForeignJob, ForeignSchedule, Found, LeftOut
from cadenza.engine.adopt.plain import to_instant, to_plain
from cadenza.engine.classic.document import FieldPaths, pick, split_path

_LOCKED = "a time in the future may be a lock there: stop its workers and let their locks run out"
_TRIES = "there an error was tried again after each lock, for ever; here as its task's retries say"
_ENDED = "there its last run deleted it; here the schedule stays and ends"
_FIELDS = ("the time zone there is the worker's own; here it is the one that was named",)


def read(
    document: Mapping[str, Any],
    *,
    task: str,
    zone: str,
    queue: str = "default",
    paths: FieldPaths | None = None,
    now: datetime,
) -> Found:
    """Read one document."""
    paths = paths or FieldPaths()
    source = f"mongodb-cron {document[paths.id]}"
    until = pick(document, paths.sleep_until)
    if until is None:
        reason = f"finished, or never to run: {paths.sleep_until} is empty"
        return LeftOut(source=source, reason=reason, refused=False)
    run_at = to_instant(until)
    interval = pick(document, paths.interval)
    ends = pick(document, paths.repeat_until)
    notes = [_TRIES]
    if run_at is None:
        notes.append(f"its time {until!r} is none, so it was due there at once, and is here")
    elif run_at > now:
        notes.append(_LOCKED)
    payload = to_plain(_without(document, paths))
    options: dict[str, Any] = {"queue": queue}
    if not interval:
        if run_at is not None:
            options["run_at"] = run_at
        if pick(document, paths.auto_remove):
            options["keep"] = False
        return ForeignJob(
            source=source, task=task, payload=payload, options=options, notes=tuple(notes)
        )
    if ends is not None and to_instant(ends) is None:
        return LeftOut(source=source, reason=f"its end {ends!r} is no time")
    if pick(document, paths.auto_remove):
        notes.append(_ENDED)
    return ForeignSchedule(
        source=source,
        name=f"{task} {document[paths.id]}",
        task=task,
        payload=payload,
        cron=str(interval),
        dialect=Dialect.MONGODB_CRON,
        zone=zone,
        repeat_until=to_instant(ends),
        next_at=run_at or now,
        options=options,
        notes=(*notes, *_FIELDS),
    )


def _without(document: Mapping[str, Any], paths: FieldPaths) -> dict[str, Any]:
    known = [paths.id, paths.sleep_until, paths.interval, paths.repeat_until, paths.auto_remove]
    left: dict[str, Any] = dict(document)
    for path in known:
        *parents, last = split_path(path)
        here = left
        for part in parents:
            inner = here.get(part)
            if not isinstance(inner, Mapping):
                break
            here[part] = dict(inner)
            here = here[part]
        else:
            here.pop(last, None)
    return left
