"""Write what was found into an engine, or only say what would be written.

Each job carries a unique key made of its source, so a second import meets those that still live
and adds nothing; a job of the first import that has finished meanwhile would come in again, so
stop the other system, import once, and look at the report first (`dry_run`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from cadenza.engine.adopt.model import ForeignJob, ForeignSchedule, Found, LeftOut
from cadenza.engine.client import Engine
from cadenza.engine.errors import InvalidJob
from cadenza.engine.recurring import make_recurrence


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of one record: inserted, existing, scheduled, left out or refused."""

    source: str
    outcome: str
    what: str
    notes: tuple[str, ...] = ()


async def bring(engine: Engine, found: Iterable[Found], *, dry_run: bool = False) -> list[Brought]:
    """Bring each record in; one that is refused stops none of the others."""
    return [await _bring_one(engine, one, dry_run=dry_run) for one in found]


async def _bring_one(engine: Engine, one: Found, *, dry_run: bool) -> Brought:
    if isinstance(one, LeftOut):
        return Brought(one.source, "refused" if one.refused else "left out", one.reason)
    try:
        if isinstance(one, ForeignJob):
            return await _bring_job(engine, one, dry_run=dry_run)
        return await _bring_schedule(engine, one, dry_run=dry_run)
    except InvalidJob as error:
        return Brought(one.source, "refused", str(error), one.notes)


async def _bring_job(engine: Engine, one: ForeignJob, *, dry_run: bool) -> Brought:
    options = dict(one.options)
    options.setdefault("unique", f"import {one.source}")
    job = engine.job(one.task, one.payload, **options)  # refuses what cannot be kept
    if dry_run:
        return Brought(one.source, "would insert", f"{job.task} in {job.queue}", one.notes)
    (answer,) = await engine.store.insert([job])
    return Brought(one.source, answer.outcome, f"job {answer.id} of {job.task}", one.notes)


async def _bring_schedule(engine: Engine, one: ForeignSchedule, *, dry_run: bool) -> Brought:
    times = {
        "cron": one.cron,
        "every": one.every,
        "zone": one.zone,
        "anchor": one.anchor,
        "repeat_until": one.repeat_until,
    }
    if dry_run:
        make_recurrence(**times, gap="shift", fold="first", jitter=0)
        engine.job(one.task, one.payload, **one.options)
        return Brought(one.source, "would schedule", one.name, one.notes)
    made = await engine.schedule(
        one.name,
        one.task,
        one.payload,
        paused=one.paused,
        **times,
        **one.options,
    )
    return Brought(one.source, "scheduled", made.name, one.notes)
