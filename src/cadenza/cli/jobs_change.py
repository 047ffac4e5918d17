"""`cadenza jobs`: changing. Enqueue, retry, cancel, redrive; pause, resume and limit queues.

Each command says what became of every job that it was asked about. If nothing of what was asked
could be done, the exit code says so too. A server with a key that holds `system:write` can be told the same, but
for new jobs and limits: these are the matter of who has the store.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.numbers import Count, SomeCount
from cadenza.cli.open_jobs import (
    HERE,
    HERE_ONLY,
    ServerOption,
    StoreOption,
    opened,
    opened_jobs,
    refuse_server,
)
from cadenza.cli.show import as_data, echo, print_json, print_table, when
from cadenza.engine.client import Engine
from cadenza.engine.job import Gate, Limit, Rate
from cadenza.engine.known_queues import check_queue
from cadenza.engine.store import Changed

_WORDS = {
    "requested": "its worker was asked to stop",
    "unchanged": "nothing to change: it is not in a state for that",
    "unknown": "no such job",
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_changes(app: App) -> None:
    """Hang the changing commands on the group."""
    for command in (enqueue, retry, cancel, redrive, pause, resume, limit):
        app.command(command)


async def enqueue(
    task: str,
    /,
    *fields: str,
    payload: str | None = None,
    queue: str | None = None,
    priority: int | None = None,
    delay: timedelta | None = None,
    run_at: datetime | None = None,
    lane: str | None = None,
    unique: str | None = None,
    tag: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    retry: int | None = None,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> int:
    """Add a job: `cadenza jobs enqueue greet name=Ada times=3`.

    Parameters
    ----------
    task
        The task's name. It is not checked here: the worker knows its tasks.
    fields
        Fields of the payload as name=value; a value that reads as JSON is taken as JSON.
    payload
        The payload as one JSON object instead.
    queue
        The queue; without it `default`.
    priority
        Lower goes first.
    delay
        Not before so long from now, for example 90s, 15m or 1h30m.
    run_at
        Not before this instant, with its offset: 2026-03-01T09:00:00+01:00.
    lane
        The lane whose limits it shares.
    unique
        One live job of this key at a time.
    tag
        A tag; may be said several times.
    retry
        How many times it is tried again after an error.
    """
    said: dict[str, Any] = {
        "queue": queue,
        "priority": priority,
        "delay": delay,
        "run_at": run_at,
        "lane": lane,
        "unique": unique,
        "tags": tag or None,
        "retry": retry,
    }
    options = {name: value for name, value in said.items() if value is not None}
    body = read_payload(payload, fields)
    refuse_server(remote, "takes no new jobs")
    async with opened(place, create=True) as engine:
        answer = await engine.enqueue(task, body, **options)
    if place.json:
        print_json(as_data(answer))
    else:
        due = f", due {when(answer.run_at, place.zone)}" if answer.run_at else ""
        echo(f"{answer.outcome} job {answer.id}{due}")
    return OK if answer.inserted else REFUSED


async def retry(*ids: int, place: StoreOption = HERE, remote: ServerOption = HERE_ONLY) -> int:
    """Run finished jobs again, waiting ones now.

    Parameters
    ----------
    ids
        The jobs' numbers.
    """
    _need(ids, "retry")
    async with opened_jobs(place, remote) as jobs:
        return _print_outcome(ids, await jobs.retry(*ids), "waits to run now", place)


async def cancel(
    *ids: int,
    reason: str = "canceled by request",
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> int:
    """Cancel waiting jobs; ask the workers of running ones to stop.

    Parameters
    ----------
    ids
        The jobs' numbers.
    reason
        Kept with each job.
    """
    _need(ids, "cancel")
    async with opened_jobs(place, remote) as jobs:
        return _print_outcome(ids, await jobs.cancel(*ids, reason=reason), "canceled", place)


async def redrive(
    *,
    queue: str | None = None,
    task: str | None = None,
    limit: Count = 1000,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """Bring failed jobs back from the dead letter, newest first.

    Parameters
    ----------
    queue
        Of this queue only.
    task
        Of this task only.
    limit
        At most so many.
    """
    async with opened_jobs(place, remote) as jobs:
        ids = await jobs.redrive(queue=queue, task=task, limit=limit)
    if place.json:
        print_json({"redriven": ids})
    else:
        echo(f"{len(ids)} failed jobs wait again" if ids else "no failed jobs")


async def pause(
    queue: str,
    lane: str | None = None,
    /,
    *,
    reason: str = "paused by request",
    force: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """Claim nothing more of a queue or lane, on all machines, until it is resumed.

    Parameters
    ----------
    queue
        The queue.
    lane
        Only this lane of it.
    reason
        Shown to whoever asks why.
    force
        Also a queue that nothing is known of yet: no job, worker or schedule.
    """
    if force:
        refuse_server(remote, "pauses only queues that it knows")
    async with opened_jobs(place, remote) as jobs:
        if isinstance(jobs, Engine) and not force:  # a server checks it itself
            await check_queue(jobs, queue)
        _tell_gate(await jobs.pause(queue, lane, reason=reason), place)


async def resume(
    queue: str,
    lane: str | None = None,
    /,
    *,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """Open a paused or parked queue or lane.

    Parameters
    ----------
    queue
        The queue.
    lane
        Only this lane of it.
    """
    async with opened_jobs(place, remote) as jobs:
        _tell_gate(await jobs.resume(queue, lane), place)


async def limit(
    queue: str,
    lane: str | None = None,
    /,
    *,
    concurrency: SomeCount = None,
    rate: str | None = None,
    burst: Count = 1,
    none: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> None:
    """Limit a queue or lane; the whole limit is replaced by what is given.

    Parameters
    ----------
    queue
        The queue.
    lane
        Only this lane of it.
    concurrency
        At most so many at once, over all workers.
    rate
        At most so many starts per time: 100/h, 5/10s, 20/1m.
    burst
        So many of them may start together.
    none
        Take the limit away.
    """
    if none == (concurrency is not None or rate is not None):
        raise UsageError("say --concurrency, --rate, or both; or --none alone, to take it away")
    wanted = Limit(concurrency, None if rate is None else read_rate(rate, burst))
    refuse_server(remote, "sets no limits of queues")
    async with opened(place) as engine:
        _tell_gate(await engine.limit(queue, lane, limit=wanted), place)


def read_payload(text: str | None, fields: Sequence[str]) -> dict[str, object]:
    """Read a payload from one JSON object or from name=value words."""
    if text is not None:
        if fields:
            raise UsageError("give --payload or name=value fields, not both")
        try:
            body = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise UsageError(f"the payload is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise UsageError(f"the payload must be a JSON object such as {{}}, not {text}")
        return body
    found: dict[str, object] = {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals or not name:
            raise UsageError(f"{field!r} is no field: write name=value")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name] = value
    return found


def read_rate(text: str, burst: int) -> Rate:
    """Read a rate such as 100/h or 5/10s."""
    found = re.fullmatch(r"(\d+)/(\d*)([smhd])", text.replace(" ", ""))
    if found is None:
        raise UsageError(f"{text!r} is no rate: write count/time, for example 100/h or 5/10s")
    count, times, unit = found.groups()
    return Rate(int(count), timedelta(seconds=int(times or 1) * _UNITS[unit]), burst)


def _need(ids: Sequence[int], verb: str) -> None:
    if not ids:
        raise UsageError(
            f"name at least one job by its number: cadenza jobs {verb} 17 (`cadenza jobs list` shows them)"
        )


def _print_outcome(
    ids: Sequence[int], answers: Sequence[Changed], changed: str, place: StoreOption
) -> int:
    if place.json:
        print_json([{"id": i, "answer": a} for i, a in zip(ids, answers, strict=True)])
    else:
        rows = [(i, _WORDS.get(a, changed)) for i, a in zip(ids, answers, strict=True)]
        print_table(("id", "answer"), rows, empty="")
    return OK if any(answer in {"changed", "requested"} for answer in answers) else REFUSED


def _tell_gate(gate: Gate, place: StoreOption) -> None:
    if place.json:
        print_json(as_data(gate))
        return
    said = [f"paused ({gate.reason})" if gate.paused else "open"]
    if gate.parked_until is not None:
        said.append(f"parked until {when(gate.parked_until, None)}")
    if gate.limit.concurrency is not None:
        said.append(f"{gate.limit.concurrency} at once")
    if gate.limit.rate is not None:
        rate = gate.limit.rate
        said.append(f"{rate.count} starts per {rate.per}, {rate.burst} together")
    echo(f"{gate.scope}: {', '.join(said)}")
