"""Why does this job not run? Every gate in order, each with its answer, time and key-holder.

The list of checks is the one that a claim obeys; it only reads, so it can be asked at any time, of
any job. The first blocked gate is the reason; `next_at` is when all time-bound gates have opened.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.engine.job import Gate, Job, Scope, State, WorkerInfo
from cadenza.engine.store import ISOLATED

HEARD = 60.0  # seconds within which a worker must have been heard of to count


@dataclass(frozen=True, slots=True)
class Check:
    """One gate: does it let the job pass, and if not, when will it, or who can make it."""

    name: str
    passed: bool
    message: str
    next_at: datetime | None = None
    who: str | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """The whole answer, first sentence first."""

    job: Job
    checks: tuple[Check, ...]

    @property
    def blocked(self) -> tuple[Check, ...]:
        """The gates that are closed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def next_at(self) -> datetime | None:
        """The earliest start that time alone allows; None if a person or another job must act."""
        closed = self.blocked
        if any(check.next_at is None for check in closed):
            return None
        return max((check.next_at for check in closed if check.next_at), default=None)

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        if not self.blocked:
            return "nothing stands in its way: the next free worker takes it"
        first = self.blocked[0]
        when = f", not before {first.next_at:%Y-%m-%d %H:%M:%S} UTC" if first.next_at else ""
        who = f"; {first.who} can change it" if first.who else ""
        return f"{first.message}{when}{who}"


def explain(
    job: Job, *, gates: Sequence[Gate], workers: Sequence[WorkerInfo], now: datetime
) -> Why:
    """Ask every gate about one job."""
    if job.state is not State.WAITING:
        return Why(job, (_state(job),))
    by_scope = {gate.scope: gate for gate in gates}
    checks = [_state(job), _due(job, now)]
    for scope in (Scope(job.queue), Scope(job.queue, job.lane)):
        if scope in by_scope and (scope.lane is not None or scope == Scope(job.queue)):
            checks += [check(by_scope[scope], now) for check in _GATE_CHECKS]
        if job.lane is None:
            break
    checks += [_served(job, workers, now), _alone(job)]
    return Why(job, tuple(checks))


def _state(job: Job) -> Check:
    match job.state:
        case State.WAITING:
            return Check("state", passed=True, message="it waits")
        case State.RUNNING:
            until = (
                f" under a lease until {job.lease_until:%H:%M:%S} UTC" if job.lease_until else ""
            )
            return Check(
                "state", passed=False, message=f"it is running on {job.worker or 'a worker'}{until}"
            )
        case State.FAILED:
            message = f"it failed after {job.attempts} attempts and {job.crashes} crashes"
            return Check(
                "state", passed=False, message=message, who="an operator with `jobs retry`"
            )
        case State.DONE | State.CANCELED:
            return Check(
                "state",
                passed=False,
                message=f"it is {job.state}",
                who="an operator with `jobs retry`",
            )


def _due(job: Job, now: datetime) -> Check:
    if job.run_at <= now:
        return Check("due", passed=True, message="it is due")
    message = "it is not due yet" if not job.attempts else f"it waits for retry {job.attempts}"
    return Check(
        "due",
        passed=False,
        message=message,
        next_at=job.run_at,
        who="an operator with `jobs retry`",
    )


def _paused(gate: Gate, _now: datetime) -> Check:
    name = f"pause of {gate.scope}"
    if not gate.paused:
        return Check(name, passed=True, message=f"{gate.scope} is open")
    reason = f": {gate.reason}" if gate.reason else ""
    return Check(
        name,
        passed=False,
        message=f"{gate.scope} is paused{reason}",
        who="an operator with `jobs resume`",
    )


def _parked(gate: Gate, now: datetime) -> Check:
    name = f"park of {gate.scope}"
    if gate.parked_until is None or gate.parked_until <= now:
        return Check(name, passed=True, message=f"{gate.scope} is not parked")
    message = f"{gate.scope} is parked"
    return Check(
        name,
        passed=False,
        message=message,
        next_at=gate.parked_until,
        who="an operator with `jobs resume`",
    )


def _crowded(gate: Gate, _now: datetime) -> Check:
    name = f"concurrency of {gate.scope}"
    most = gate.limit.concurrency
    if most is None or gate.in_flight < most:
        return Check(
            name, passed=True, message=f"{gate.in_flight} running of {most or 'any number'}"
        )
    return Check(
        name,
        passed=False,
        message=f"{gate.in_flight} of {most} allowed in {gate.scope} are running",
    )


def _rated(gate: Gate, now: datetime) -> Check:
    name = f"rate of {gate.scope}"
    rate = gate.limit.rate
    if rate is None or gate.next_start is None:
        return Check(name, passed=True, message="no rate holds it back")
    opens = gate.next_start - rate.interval * (rate.burst - 1)
    if opens <= now:
        return Check(name, passed=True, message="the rate has room")
    return Check(name, passed=False, message=f"the rate of {gate.scope} is used up", next_at=opens)


_GATE_CHECKS: tuple[Callable[[Gate, datetime], Check], ...] = (_paused, _parked, _crowded, _rated)


def _served(job: Job, workers: Sequence[WorkerInfo], now: datetime) -> Check:
    alive = [w for w in workers if (now - w.seen_at).total_seconds() < HEARD]
    serving = [w for w in alive if job.queue in w.queues]
    if not serving:
        message = f"no running worker serves queue {job.queue!r}"
        return Check("worker", passed=False, message=message, who="whoever runs the workers")
    if not any(job.task in w.tasks for w in serving):
        message = f"no worker of queue {job.queue!r} knows task {job.task!r}"
        return Check("worker", passed=False, message=message, who="whoever deploys the workers")
    return Check("worker", passed=True, message=f"{_count(serving)} queue {job.queue!r}")


def _count(serving: Sequence[WorkerInfo]) -> str:
    return "one worker serves" if len(serving) == 1 else f"{len(serving)} workers serve"


def _alone(job: Job) -> Check:
    if job.crashes < ISOLATED:
        return Check("alone", passed=True, message="it may run beside others")
    message = f"a process died with it {job.crashes} times: a worker runs one such job at a time"
    return Check("alone", passed=True, message=message)
