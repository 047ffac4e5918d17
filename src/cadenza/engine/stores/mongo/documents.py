"""What is written in MongoDB, and how it is read back: jobs, gates, schedules, workers.

Instants are BSON dates, which know milliseconds: an instant between two of them becomes the later
one, so nothing is ever early. Only the next start of a rate is kept in microseconds, because its
error would add up.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from cadenza.engine.job import (
    Claimed,
    Gate,
    Job,
    Limit,
    NewJob,
    Rate,
    Schedule,
    Scope,
    State,
    WorkerInfo,
)
from cadenza.engine.store import ISOLATED

Paper = dict[str, Any]
ORDINARY = {"$in": list(range(ISOLATED))}  # crashes; by equality, so that an index gives the order
T = TypeVar("T", datetime, None)

ARRIVING = "arriving"  # written, but its batch is not yet committed: nobody sees or takes it
FINISHED = [State.DONE.value, State.FAILED.value, State.CANCELED.value]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECOND = timedelta(milliseconds=1)


def to_millisecond(instant: datetime) -> datetime:
    """Return the instant as MongoDB can keep it, never an earlier one."""
    over = instant.microsecond % 1000
    return instant.astimezone(UTC) + timedelta(microseconds=1000 - over if over else 0)


def maybe(instant: datetime | None) -> datetime | None:
    """Round what may be absent."""
    return None if instant is None else to_millisecond(instant)


def micros(span: timedelta) -> int:
    """Return whole microseconds."""
    return span // _MICROSECOND


def stamp(instant: datetime) -> int:
    """Return an instant in microseconds since 1970."""
    return micros(instant - _EPOCH)


def _from_stamp(value: int | None) -> datetime | None:
    return None if value is None else _EPOCH + value * _MICROSECOND


def gate_id(scope: Scope) -> str:
    """Name a gate's document."""
    return json.dumps([scope.queue, scope.lane], ensure_ascii=False)


def among(ids: Sequence[int]) -> Paper:
    """Word "one of these ids" so that the server compares as little as it can.

    Ids of one bulk insert follow each other, and then a range says the same; otherwise its ends stand
    beside the list, for servers that compare each document with each entry.
    """
    ends = {"$gte": min(ids), "$lte": max(ids)}
    if ends["$lte"] - ends["$gte"] + 1 == len(set(ids)):
        return ends
    return {**ends, "$in": list(ids)}


class Arrival(NamedTuple):
    """What an arriving job belongs to: a batch, and the schedule whose firing that is."""

    batch: int
    firing_of: str | None


def write_job(
    id_: int, job: NewJob, *, now: datetime, run_at: datetime, arrival: Arrival | None
) -> Paper:
    """Lay out a new job."""
    paper: Paper = {
        "_id": id_,
        "queue": job.queue,
        "task": job.task,
        "state": State.WAITING.value if arrival is None else ARRIVING,
        "payload": job.payload,
        "priority": job.priority,
        "created_at": now,
        "run_at": run_at,
        "lane": job.lane,
        "tags": list(job.tags),
        "options": job.options,
        "schedule": job.schedule,
        "attempts": 0,
        "crashes": 0,
        "snoozes": 0,
        "lease": 0,
        "cancel_requested": False,
        "errors": [],
    }
    if arrival is not None:
        paper["batch"] = arrival.batch
        if arrival.firing_of is not None:
            paper["firing_of"] = arrival.firing_of
    return paper


def read_job(paper: Mapping[str, Any], lease: Mapping[str, Any] | None) -> Job:
    """Show a job; `lease` is the one it runs under."""
    return Job(
        id=paper["_id"],
        queue=paper["queue"],
        task=paper["task"],
        state=State(paper["state"]),
        payload=paper["payload"],
        priority=paper["priority"],
        created_at=paper["created_at"],
        run_at=paper["run_at"],
        attempts=paper["attempts"],
        crashes=paper["crashes"],
        snoozes=paper["snoozes"],
        lane=paper["lane"],
        unique_key=paper.get("unique_key"),
        tags=tuple(paper["tags"]),
        options=paper["options"],
        schedule=paper["schedule"],
        lease=paper["lease"],
        lease_until=lease["until"] if lease else None,
        worker=lease["worker"] if lease else None,
        cancel_requested=paper["cancel_requested"],
        progress=paper.get("progress"),
        output=paper.get("output"),
        errors=tuple(paper["errors"]),
        finished_at=paper.get("finished_at"),
    )


def read_claimed(paper: Mapping[str, Any]) -> Claimed:
    """Hand a job to a worker."""
    return Claimed(
        id=paper["_id"],
        lease=paper["lease"],
        task=paper["task"],
        payload=paper["payload"],
        queue=paper["queue"],
        attempts=paper["attempts"],
        crashes=paper["crashes"],
        run_at=paper["run_at"],
        lane=paper["lane"],
        options=paper["options"],
        schedule=paper["schedule"],
        snoozes=paper["snoozes"],
        progress=paper.get("progress"),
    )


def write_limit(limit: Limit) -> Paper:
    """Lay out what limits a scope."""
    rate = limit.rate
    return {
        "concurrency": limit.concurrency,
        "rate": None
        if rate is None
        else {"count": rate.count, "per": micros(rate.per), "burst": rate.burst},
    }


def write_gate(scope: Scope, flights: Mapping[str, int], turn: int) -> Paper:
    """Lay out a new, open gate; `flights` is what runs in it, by lease."""
    return {
        "_id": gate_id(scope),
        "queue": scope.queue,
        "lane": scope.lane,
        "paused": False,
        "reason": None,
        "parked_until": None,
        "limit": write_limit(Limit()),
        "flights": dict(flights),
        "next_start": None,
        "turn": turn,
        "version": 0,
    }


def read_gate(paper: Mapping[str, Any]) -> Gate:
    """Show a gate."""
    limit = paper["limit"]
    rate = limit["rate"]
    found = None
    if rate is not None:
        found = Rate(rate["count"], rate["per"] * _MICROSECOND, rate["burst"])
    return Gate(
        Scope(paper["queue"], paper["lane"]),
        paused=paper["paused"],
        reason=paper["reason"],
        parked_until=paper["parked_until"],
        limit=Limit(limit["concurrency"], found),
        in_flight=sum(max(count, 0) for count in paper["flights"].values()),
        next_start=_from_stamp(paper["next_start"]),
    )


_SCHEDULE = [each.name for each in fields(Schedule) if each.name != "name"]
_WORKER = [each.name for each in fields(WorkerInfo) if each.name != "name"]


def write_schedule(schedule: Schedule) -> Paper:
    """Lay out a schedule, but for its name."""
    paper = {name: getattr(schedule, name) for name in _SCHEDULE}
    return paper | {"next_at": maybe(schedule.next_at), "last_at": maybe(schedule.last_at)}


def read_schedule(paper: Mapping[str, Any]) -> Schedule:
    """Show a schedule."""
    return Schedule(name=paper["_id"], **{name: paper[name] for name in _SCHEDULE})


def write_worker(worker: WorkerInfo, seen_at: datetime) -> Paper:
    """Lay out a worker, but for its name."""
    paper = {name: _plain(getattr(worker, name)) for name in _WORKER}
    return paper | {"started_at": to_millisecond(worker.started_at), "seen_at": seen_at}


def read_worker(paper: Mapping[str, Any]) -> WorkerInfo:
    """Show a worker."""
    found = {name: paper[name] for name in _WORKER}
    found |= {name: tuple(found[name]) for name in ("queues", "tasks")}
    return WorkerInfo(name=paper["_id"], **found)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
