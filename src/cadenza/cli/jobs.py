"""`cadenza jobs`: looking. What is there, one job in full, why it does not run, what recurs.

In a store or over a server, by the same words. The commands that change something are in `jobs_change.py` and
hang on the same group.
"""

from typing import Annotated

from cyclopts import App, Parameter

from cadenza.cli.jobs_change import add_changes
from cadenza.cli.jobs_import import add_import
from cadenza.cli.numbers import Count
from cadenza.cli.open_jobs import HERE, HERE_ONLY, Jobs, ServerOption, StoreOption, opened_jobs
from cadenza.cli.show import (
    as_data,
    echo,
    last_error,
    plain,
    print_facts,
    print_json,
    print_table,
    when,
)
from cadenza.core.cron import Dialect
from cadenza.core.recurrence import Preview
from cadenza.core.zones import Mark
from cadenza.engine.job import Job, Schedule, State
from cadenza.engine.recurring import load_recurrence, trouble

app = App(name="jobs", help="Look at jobs and change what becomes of them.")
add_changes(app)
add_import(app)


@app.command(name="list")
async def list_(
    *,
    queue: str | None = None,
    task: str | None = None,
    state: Annotated[tuple[State, ...], Parameter(negative="", show_default=False)] = (),
    tag: str | None = None,
    lane: str | None = None,
    schedule: str | None = None,
    before: int | None = None,
    limit: Count = 50,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """List jobs, newest first.

    Parameters
    ----------
    queue
        Of this queue only.
    task
        Of this task only.
    state
        In this state only; may be said several times.
    tag
        With this tag only.
    lane
        Of this lane only.
    schedule
        Made by this schedule only.
    before
        With numbers below this one: the next page.
    limit
        At most so many.
    """
    async with opened_jobs(place, remote) as jobs:
        found = await jobs.find(
            queue=queue,
            task=task,
            states=state,
            tag=tag,
            lane=lane,
            schedule=schedule,
            before=before,
            limit=limit,
        )
    if place.json:
        print_json([as_data(job) for job in found])
        return
    rows = [
        (
            job.id,
            job.state.value,
            job.queue if job.lane is None else f"{job.queue}/{job.lane}",
            job.task,
            when(job.run_at, place.zone),
            job.attempts,
            last_error(job),
        )
        for job in found
    ]
    headings = ("id", "state", "queue", "task", "due", "attempts", "last error")
    print_table(headings, rows, empty="no such jobs")
    if len(found) == limit:
        echo(f"there may be more: --before {found[-1].id}")


@app.command
async def show(id: int, /, *, place: StoreOption = HERE, remote: ServerOption = HERE_ONLY) -> None:
    """Show all that is known of one job.

    Parameters
    ----------
    id
        The job's number.
    """
    async with opened_jobs(place, remote) as jobs:
        job = await jobs.get(id)
    if place.json:
        print_json(as_data(job))
        return
    print_facts(_facts(job, place.zone))
    for text in job.errors:
        echo(f"\n{_error(text)}")


@app.command
async def why(id: int, /, *, place: StoreOption = HERE, remote: ServerOption = HERE_ONLY) -> None:
    """Say why a job does not run now, when it may, and who can change that.

    Parameters
    ----------
    id
        The job's number.
    """
    async with opened_jobs(place, remote) as jobs:
        answer = await jobs.why(id)
    if place.json:
        checks = [as_data(check) for check in answer.checks]
        print_json(
            {"job": id, "sentence": answer.sentence, "next_at": answer.next_at, "checks": checks}
        )
        return
    echo(f"job {id}: {answer.sentence}")
    rows = [
        (
            "open" if check.passed else "closed",
            check.name,
            check.message,
            when(check.next_at, place.zone) if check.next_at else "",
            check.who or "",
        )
        for check in answer.checks
    ]
    print_table(("", "gate", "message", "opens", "who can change it"), rows, empty="")


@app.command
async def tally(*, place: StoreOption = HERE, remote: ServerOption = HERE_ONLY) -> None:
    """Count jobs by queue and state, and show which queues are paused, parked or limited."""
    async with opened_jobs(place, remote) as jobs:
        counts = await jobs.tally()
        gates = await jobs.gates()
    if place.json:
        print_json({"tally": [as_data(t) for t in counts], "gates": [as_data(g) for g in gates]})
        return
    by_queue: dict[str, dict[State, int]] = {}
    for count in counts:
        by_queue.setdefault(count.queue, {})[count.state] = count.count
    rows = [(q, *(states.get(s, 0) for s in State)) for q, states in sorted(by_queue.items())]
    print_table(("queue", *(s.value for s in State)), rows, empty="no jobs")
    shown = [
        (
            g.scope,
            f"paused: {g.reason}" if g.paused else "open",
            when(g.parked_until, place.zone) if g.parked_until else "",
            g.limit.concurrency or "",
            f"{g.limit.rate.count}/{g.limit.rate.per}" if g.limit.rate else "",
            g.in_flight,
        )
        for g in gates
    ]
    if shown:
        headings = ("scope", "gate", "parked until", "at once", "rate", "running")
        print_table(headings, shown, empty="")


@app.command
async def schedules(
    name: str | None = None,
    /,
    *,
    count: Count = 3,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """List schedules with their next occurrences.

    Parameters
    ----------
    name
        This schedule only.
    count
        So many occurrences of each; a change of the clocks is marked.
    """
    async with opened_jobs(place, remote) as jobs:
        found = await jobs.schedules()
        if name is not None:
            await jobs.preview(name, 1)  # refuses an unknown name, with the nearest known one
            found = [schedule for schedule in found if schedule.name == name]
        coming = {s.name: await _preview(jobs, s, count) for s in found}
    if place.json:
        print_json([{**as_data(s), "coming": [p.instant for p in coming[s.name]]} for s in found])
        return
    rows = [
        (
            s.name,
            s.task,
            _recurs(s),
            "paused" if s.paused else when(s.next_at, place.zone),
            "\n".join(_occurrence(p) for p in coming[s.name]),
            s.last_note or "",
        )
        for s in found
    ]
    headings = ("schedule", "task", "recurs", "next", "on its own clock", "last")
    print_table(headings, rows, empty="no schedules")


async def _preview(jobs: Jobs, schedule: Schedule, count: int) -> tuple[Preview, ...]:
    if schedule.next_at is None or trouble(schedule):
        return ()
    return await jobs.preview(schedule.name, count)


def _recurs(schedule: Schedule) -> str:
    why = trouble(schedule)
    if why:
        return f"cannot fire: {why}"
    recurrence = load_recurrence(schedule.recurrence)
    if recurrence.cron is None:
        return f"every {recurrence.every}"
    cron = recurrence.cron
    words = "" if cron.dialect is Dialect.STANDARD else f" ({cron.dialect})"
    return f"{cron.expression} {recurrence.zone}{words}"


def _occurrence(preview: Preview) -> str:
    mark = "" if preview.mark is Mark.NONE else f"  ({preview.mark})"
    return f"{preview.wall:%a %Y-%m-%d %H:%M:%S %Z}{mark}"


def _facts(job: Job, zone: str | None) -> dict[str, object]:
    return {
        "job": job.id,
        "state": job.state.value,
        "task": job.task,
        "queue": job.queue,
        "lane": job.lane,
        "priority": job.priority,
        "created": when(job.created_at, zone),
        "due": when(job.run_at, zone),
        "finished": when(job.finished_at, zone) if job.finished_at else None,
        "attempts": job.attempts,
        "crashes": job.crashes,
        "snoozes": job.snoozes,
        "payload": job.payload,
        "options": job.options,
        "unique key": job.unique_key,
        "tags": ", ".join(job.tags),
        "schedule": job.schedule,
        "worker": job.worker,
        "lease until": when(job.lease_until, zone) if job.lease_until else None,
        "cancel": "requested" if job.cancel_requested else None,
        "progress": job.progress,
        "output": job.output,
    }


def _error(text: str) -> str:
    import msgspec

    note = msgspec.json.decode(text)
    attempt = f" (attempt {note['attempt']})" if "attempt" in note else ""
    head = f"{note['at']} {note['kind']}{attempt}: {note['message']}"
    return plain(f"{head}\n{note.get('trace', '')}".rstrip())
