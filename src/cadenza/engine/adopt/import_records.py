"""Write what was found into an engine, or only say what would be written.

Each job carries a unique key made of its source, so a second import meets those that still live
and adds nothing; a job of the first import that has finished meanwhile would come in again, so
stop the other system, import once, and look at the report first (`dry_run`). What recurs and is
overdue there, or has a next run off its own times, gets a job for that run beside its schedule.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from msgspec import structs

from cadenza.core.recurrence import Recurrence, next_occurrence
from cadenza.engine.adopt.model import ForeignJob, ForeignSchedule, Found, LeftOut
from cadenza.engine.client import Engine
from cadenza.engine.errors import InvalidJob
from cadenza.engine.recurring import MOMENT, make_recurrence, one_at_a_time


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """What became of one record: inserted, existing, scheduled, left out or refused."""

    source: str
    outcome: str
    what: str
    notes: tuple[str, ...] = ()


async def import_records(
    engine: Engine, found: Iterable[Found], *, dry_run: bool = False
) -> list[ImportedRecord]:
    """Bring each record in; one that is refused stops none of the others."""
    return [await _import_one(engine, one, dry_run=dry_run) for one in found]


async def _import_one(engine: Engine, one: Found, *, dry_run: bool) -> ImportedRecord:
    if isinstance(one, LeftOut):
        return ImportedRecord(one.source, "refused" if one.refused else "left out", one.reason)
    try:
        if isinstance(one, ForeignJob):
            return await _import_job(engine, one, dry_run=dry_run)
        return await _import_schedule(engine, one, dry_run=dry_run)
    except InvalidJob as error:
        return ImportedRecord(one.source, "refused", str(error), one.notes)


async def _import_job(engine: Engine, one: ForeignJob, *, dry_run: bool) -> ImportedRecord:
    options = dict(one.options)
    options.setdefault("unique", f"import {one.source}")
    job = engine.job(one.task, one.payload, **options)  # refuses what cannot be kept
    if dry_run:
        return ImportedRecord(one.source, "would insert", f"{job.task} in {job.queue}", one.notes)
    (answer,) = await engine.store.insert([job])
    return ImportedRecord(one.source, answer.outcome, f"job {answer.id} of {job.task}", one.notes)


async def _import_schedule(
    engine: Engine, one: ForeignSchedule, *, dry_run: bool
) -> ImportedRecord:
    times = {
        "cron": one.cron,
        "dialect": one.dialect,
        "every": one.every,
        "zone": one.zone,
        "anchor": one.anchor,
        "repeat_until": one.repeat_until,
    }
    recurrence = make_recurrence(**times, gap="shift", fold="first", jitter=0)
    job = engine.job(one.task, one.payload, **one.options)
    now = await engine.store.now()
    apart = _runs_apart(one, recurrence, now)
    if dry_run:
        what = f"{one.name}, and a job for the run of {apart.isoformat()}" if apart else one.name
        return ImportedRecord(one.source, "would schedule", what, one.notes)
    what = one.name
    if apart is not None and one.name not in {s.name for s in await engine.schedules()}:
        run = structs.replace(job, run_at=apart, rule=one_at_a_time(one.name), schedule=one.name)
        (answer,) = await engine.store.insert([run])
        what = f"{one.name}, and job {answer.id} for the run of {apart.isoformat()}"
    after = one.next_at
    if after is not None and apart is None:
        after -= MOMENT  # the next run there is an occurrence here
    await engine.schedule(
        one.name, one.task, one.payload, paused=one.paused, after=after, **times, **one.options
    )
    return ImportedRecord(one.source, "scheduled", what, one.notes)


def _runs_apart(one: ForeignSchedule, recurrence: Recurrence, now: datetime) -> datetime | None:
    """Return the time of a next run that the schedule would not make by itself."""
    if one.next_at is None or one.paused:
        return None
    comes_by_itself = next_occurrence(recurrence, one.next_at - MOMENT) == one.next_at > now
    return None if comes_by_itself else one.next_at
