"""Schedules: a recurrence kept as JSON, and what one firing of it inserts.

A schedule in the store knows its next undecided occurrence; firing moves it on and inserts the
jobs in one transaction, only if nobody else did: exactly once per occurrence, over any number of
machines. This module only decides; `loops/recur.py` looks, `Store.fire` writes.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from cadenza.core.cron import CronError, Dialect, parse
from cadenza.core.recurrence import Missed, Overlap, Recurrence, Within, due_occurrences, start_of
from cadenza.core.zones import Fold, Gap, get_zone
from cadenza.engine.errors import InvalidJob, unknown
from cadenza.engine.job import NewJob, Rule, Schedule, Unique, While
from cadenza.engine.options import duration, instant

MOMENT = timedelta(milliseconds=1)  # what a store may round an occurrence up by


@dataclass(frozen=True, slots=True)
class Firing:
    """What one pass does to a due schedule."""

    next_at: datetime | None
    note: str | None
    jobs: tuple[NewJob, ...]


def make_recurrence(
    *,
    cron: str | None,
    every: timedelta | float | None,
    zone: str,
    gap: str,
    fold: str,
    anchor: datetime | None,
    repeat_until: datetime | None,
    jitter: timedelta | float,
    dialect: str = Dialect.STANDARD,
) -> Recurrence:
    """Build a recurrence from what a person wrote; what is impossible is refused with the reason."""
    if dialect not in set(Dialect):
        raise InvalidJob(unknown("cron dialect", dialect, set(Dialect)))
    try:
        return Recurrence(
            cron=None if cron is None else parse(cron, dialect),
            every=None if every is None else duration("every", every),
            anchor=datetime(1970, 1, 1, tzinfo=UTC)
            if anchor is None
            else instant("anchor", anchor),
            zone=get_zone(zone),
            gap=Gap(gap),
            fold=Fold(fold),
            repeat_until=None if repeat_until is None else instant("repeat_until", repeat_until),
            jitter=duration("jitter", jitter),
        )
    except (CronError, ValueError) as error:
        raise InvalidJob(str(error)) from error


def dump_recurrence(recurrence: Recurrence) -> str:
    """Write a recurrence as the JSON that stores keep."""
    said: dict[str, object] = {
        "zone": str(recurrence.zone),
        "gap": recurrence.gap,
        "fold": recurrence.fold,
    }
    if recurrence.cron is not None:
        said["cron"] = recurrence.cron.expression
        if recurrence.cron.dialect is not Dialect.STANDARD:
            said["dialect"] = recurrence.cron.dialect
    if recurrence.every is not None:
        said["every"] = recurrence.every.total_seconds()
        said["anchor"] = recurrence.anchor.isoformat()
    if recurrence.repeat_until is not None:
        said["repeat_until"] = recurrence.repeat_until.isoformat()
    if recurrence.jitter:
        said["jitter"] = recurrence.jitter.total_seconds()
    return msgspec.json.encode(said).decode()


def load_recurrence(text: str) -> Recurrence:
    """Read what `dump_recurrence` wrote."""
    said: dict[str, Any] = msgspec.json.decode(text)
    return make_recurrence(
        cron=said.get("cron"),
        every=said.get("every"),
        zone=said["zone"],
        gap=said["gap"],
        fold=said["fold"],
        anchor=datetime.fromisoformat(said["anchor"]) if "anchor" in said else None,
        repeat_until=datetime.fromisoformat(said["repeat_until"])
        if "repeat_until" in said
        else None,
        jitter=said.get("jitter", 0.0),
        dialect=said.get("dialect", Dialect.STANDARD),
    )


def parse_missed(text: str) -> Missed | Within:
    """Read a missed policy: skip, once, all, or `within:SECONDS`."""
    try:
        if text.startswith("within:"):
            return Within(duration("missed within", float(text.removeprefix("within:"))))
        return Missed(text)
    except InvalidJob:
        raise
    except ValueError as error:
        message = f"missed must be skip, once, all or within:SECONDS, not {text!r}"
        raise InvalidJob(message) from error


def succeed(old: Schedule, new: Schedule, *, paused: bool | None) -> Schedule:
    """Return what putting `new` in the place of `old` comes to: the past is kept, the same times go on."""
    return replace(
        new,
        paused=old.paused if paused is None else paused,
        next_at=old.next_at if old.recurrence == new.recurrence else new.next_at,
        last_at=old.last_at,
        last_note=old.last_note,
        revision=old.revision,
    )


def decide(schedule: Schedule, now: datetime) -> Firing:
    """Decide what a due schedule inserts at `now`, and where it stands afterwards."""
    recurrence = load_recurrence(schedule.recurrence)
    since = (schedule.next_at or now) - MOMENT
    due = due_occurrences(recurrence, since, now, parse_missed(schedule.missed))
    note = None
    if due.missed:
        note = f"{'' if due.counted_all else 'at least '}{due.missed} missed ({schedule.missed})"
    jobs = tuple(_job(schedule, recurrence, occurrence) for occurrence in due.fire)
    return Firing(due.next, note, jobs)


def trouble(schedule: Schedule) -> str | None:
    """Say why a schedule cannot fire; None: it can."""
    try:
        load_recurrence(schedule.recurrence)
        parse_missed(schedule.missed)
        Overlap(schedule.overlap)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it is the answer
        return str(error)
    return None


def _job(schedule: Schedule, recurrence: Recurrence, occurrence: datetime) -> NewJob:
    return NewJob(
        task=schedule.task,
        payload=schedule.payload,
        queue=schedule.queue,
        priority=schedule.priority,
        run_at=start_of(recurrence, occurrence, schedule.name),
        lane=schedule.lane,
        rule=_overlap_rule(schedule),
        options=schedule.options,
        schedule=schedule.name,
    )


def one_at_a_time(name: str) -> Unique:
    """Return the rule by which runs of a schedule never overlap."""
    return Unique(f"schedule:{name}", While.LIVE)


def _overlap_rule(schedule: Schedule) -> Rule | None:
    """Overlap is uniqueness: skip while one lives, buffer while one waits."""
    match Overlap(schedule.overlap):
        case Overlap.SKIP:
            return one_at_a_time(schedule.name)
        case Overlap.BUFFER:
            return Unique(f"schedule:{schedule.name}", While.QUEUED)
        case Overlap.CANCEL | Overlap.ALLOW:
            return None
