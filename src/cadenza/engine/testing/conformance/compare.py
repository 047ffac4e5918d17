"""Holds what one store shows against what the reference shows, field by field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cadenza.engine.gates import is_closed
from cadenza.engine.job import (
    Claimed,
    Filter,
    Gate,
    Job,
    Schedule,
    Scope,
    State,
    Tally,
)
from cadenza.engine.testing.conformance.harness import read
from cadenza.engine.testing.conformance.model import Model

_HANDED = ("task", "queue", "attempts", "crashes", "snoozes", "lane", "schedule", "run_at")
_JOB_NUMBER = re.compile(r"job (\d+)")


@dataclass(slots=True)
class Names:
    """Who is who: the model's ids and leases, and what the store under test calls them."""

    prefix: str
    ids: dict[int, int] = field(default_factory=dict)
    leases: dict[int, int] = field(default_factory=dict)

    def own(self, name: str) -> str:
        """Make a name this run's own."""
        return f"{self.prefix}-{name}"

    def own_scope(self, scope: Scope) -> Scope:
        """Make a scope this run's own."""
        return Scope(self.own(scope.queue), scope.lane)

    def all_of(self, queue: str) -> Filter:
        """Find all jobs of a queue."""
        return Filter(queue=queue, limit=100_000)

    def same_claimed(self, seen: Claimed, wanted: Claimed) -> None:
        """Compare what a worker is handed."""
        for name in _HANDED:
            assert getattr(seen, name) == getattr(wanted, name), name
        for name in ("payload", "options", "progress"):
            assert read(getattr(seen, name)) == read(getattr(wanted, name)), name


def see_jobs(names: Names, seen: Sequence[Job], wanted: Sequence[Job], model: Model) -> None:
    """Compare all jobs of a queue; a key is compared while it is held."""
    assert [job.id for job in seen] == [names.ids[job.id] for job in wanted], "jobs, newest first"
    for job, right in zip(seen, wanted, strict=True):
        _see_job(names, job, right)
        key = model.holds_key(right.id)
        assert key is None or job.unique_key == key, f"unique_key of {right}"


_PLAIN = [
    "state",
    "task",
    "priority",
    "attempts",
    "crashes",
    "snoozes",
    "lane",
    "tags",
    "schedule",
    "cancel_requested",
    "created_at",
    "run_at",
    "lease_until",
    "worker",
    "finished_at",
]
_PLANNED = ("task", "queue", "paused", "revision", "next_at", "last_at", "overlap", "missed")
_TEXTS = ("payload", "options", "progress", "output")


def _see_job(names: Names, seen: Job, wanted: Job) -> None:
    for name in _PLAIN:
        assert getattr(seen, name) == getattr(wanted, name), f"{name} of {wanted}"
    for name in _TEXTS:
        assert read(getattr(seen, name)) == read(getattr(wanted, name)), f"{name} of {wanted}"
    errors = [read(error) for error in wanted.errors]
    assert [read(error) for error in seen.errors] == errors, f"errors of {wanted}"
    if wanted.state is State.RUNNING:
        assert seen.lease == names.leases[wanted.lease], f"lease of {wanted}"


def see_next_due(seen: datetime | None, wanted: datetime | None, now: datetime) -> None:
    """Compare when an empty batch says to ask again; what is overdue may be told as now."""
    clamped = [None if at is None else max(at, now) for at in (seen, wanted)]
    assert clamped[0] == clamped[1], "next_due"


def see_not_late(seen: datetime | None, wanted: datetime | None) -> None:
    """Compare `next_due` between claims: too early costs one claim, too late a job its time."""
    if wanted is not None:
        assert seen is not None, "next_due"
        assert seen <= wanted, "next_due"


def see_gates(names: Names, seen: Sequence[Gate], wanted: Sequence[Gate], now: datetime) -> None:
    """Compare gates; one that stops nothing need not be shown."""
    theirs = {gate.scope: gate for gate in seen if gate.scope.queue.startswith(names.prefix)}
    ours = {gate.scope: gate for gate in wanted}
    for scope in theirs.keys() | ours.keys():
        shown = theirs.get(scope) or ours[scope]
        free = Gate(scope, in_flight=shown.in_flight)
        _see_gate(names, theirs.get(scope, free), ours.get(scope, free), now)


def _see_gate(names: Names, seen: Gate, wanted: Gate, now: datetime) -> None:
    what = f"{seen} instead of {wanted}"
    assert (seen.paused, seen.reason, seen.limit) == (wanted.paused, wanted.reason, wanted.limit), (
        what
    )
    assert seen.in_flight == wanted.in_flight, what
    assert is_closed(seen, now) == is_closed(wanted, now), what
    if is_closed(wanted, now) and not wanted.paused:
        assert seen.parked_until == wanted.parked_until, what
    if wanted.limit.rate is not None and wanted.next_start is not None and wanted.next_start > now:
        assert seen.next_start == wanted.next_start, what


def see_schedules(names: Names, seen: Sequence[Schedule], wanted: Sequence[Schedule]) -> None:
    """Compare schedules, in order."""
    theirs = [schedule for schedule in seen if schedule.name.startswith(names.prefix)]
    assert [schedule.name for schedule in theirs] == [schedule.name for schedule in wanted]
    for schedule, right in zip(theirs, wanted, strict=True):
        for name in _PLANNED:
            assert getattr(schedule, name) == getattr(right, name), f"{name} of {right}"
        note = right.last_note and _JOB_NUMBER.sub(
            lambda found: f"job {names.ids[int(found[1])]}", right.last_note
        )
        assert schedule.last_note == note, f"last_note of {right}"


def see_tally(names: Names, seen: Sequence[Tally], wanted: Sequence[Tally]) -> None:
    """Compare counts."""
    theirs = {(t.queue, t.state): t.count for t in seen if t.queue.startswith(names.prefix)}
    ours = {(t.queue, t.state): t.count for t in wanted}
    assert {key: count for key, count in theirs.items() if count} == ours
