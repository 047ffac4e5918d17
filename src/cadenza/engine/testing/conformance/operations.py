"""What may happen to a store, as values that Hypothesis can make, drop and shrink.

Nothing here names an id, a lease or an instant: a step says "the third job there is" or "the
second one in hand", so that a run stays playable when earlier steps are taken out of it.
"""

from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from cadenza.engine.job import (
    Debounce,
    Limit,
    NewJob,
    Pace,
    Rate,
    Rule,
    Scope,
    Throttle,
    Unique,
    While,
)
from cadenza.engine.outcomes import Verdict

QUEUES = ("q0", "q1")
LANES = ("l0", "l1")
KEYS = ("k0", "k1")
NAMES = ("s0", "s1")
WORKERS = ("ada", "ben")
MINUTE = timedelta(minutes=1)
SILENCES = (timedelta(), MINUTE, 6 * MINUTE)  # of no lease, of the short ones, of all


@dataclass(frozen=True, slots=True)
class Insert:
    jobs: tuple[NewJob, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    queue: str
    limit: int
    alone: bool
    started: bool
    worker: str
    lease: timedelta


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one job in hand comes to; `stale` names a lease that it does not run under."""

    pick: int
    verdict: Verdict
    wait: timedelta
    at: bool
    keep: bool
    park: Scope | None
    stale: bool


@dataclass(frozen=True, slots=True)
class Settle:
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Renew:
    worker: str
    picks: tuple[int, ...]
    lease: timedelta


@dataclass(frozen=True, slots=True)
class Shift:
    by: timedelta


@dataclass(frozen=True, slots=True)
class Start:
    picks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rescue:
    """A rescue after a silence, so that it finds something."""

    crash_limit: int
    silence: timedelta


@dataclass(frozen=True, slots=True)
class Cancel:
    picks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Revive:
    picks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Report:
    pick: int
    stale: bool


@dataclass(frozen=True, slots=True)
class SetGate:
    scope: Scope
    paused: bool | None
    limit: Limit | None
    park: timedelta | None


@dataclass(frozen=True, slots=True)
class PutSchedule:
    name: str
    wait: timedelta
    paused: bool
    keep_paused: bool


@dataclass(frozen=True, slots=True)
class SetSchedule:
    name: str
    paused: bool


@dataclass(frozen=True, slots=True)
class DropSchedule:
    name: str


@dataclass(frozen=True, slots=True)
class Fire:
    name: str
    stale: bool
    ends: bool
    jobs: tuple[NewJob, ...]


@dataclass(frozen=True, slots=True)
class Prune:
    done: timedelta
    failed: timedelta


Step = (
    Insert
    | Claim
    | Settle
    | Renew
    | Shift
    | Start
    | Rescue
    | Cancel
    | Revive
    | Report
    | SetGate
    | PutSchedule
    | SetSchedule
    | DropSchedule
    | Fire
    | Prune
)

_Value = TypeVar("_Value")


def _weighted(*kinds: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Choose by weight; `one_of` would count equal strategies once."""
    return st.sampled_from([kind for weight, kind in kinds for _ in range(weight)]).flatmap(
        lambda kind: kind
    )


def _seldom(values: st.SearchStrategy[_Value]) -> st.SearchStrategy[_Value | None]:
    return _weighted((3, st.none()), (1, values))


_rarely = st.sampled_from([False, False, False, True])
_names = st.sampled_from([NAMES[0], *NAMES])
_picks = st.integers(0, 7)
_several = st.lists(_picks, min_size=1, max_size=3, unique=True).map(tuple)
_waits = st.sampled_from([timedelta(), MINUTE, 10 * MINUTE, 60 * MINUTE])
_leases = st.sampled_from([MINUTE / 2, 5 * MINUTE])
_keys = st.sampled_from(KEYS)
_queues = st.sampled_from([*[QUEUES[0]] * 4, *QUEUES])  # the first one mostly: more meets there
_lanes = st.sampled_from([None, None, LANES[0], *LANES])
_scopes = st.builds(Scope, _queues, _lanes)
_limits = st.sampled_from(
    [
        Limit(),
        Limit(concurrency=1),
        Limit(concurrency=2),
        Limit(rate=Rate(6, 60 * MINUTE)),
        Limit(concurrency=3, rate=Rate(12, 60 * MINUTE, burst=2)),
    ]
)
_rules: st.SearchStrategy[Rule] = st.one_of(
    st.builds(Unique, _keys, st.sampled_from(While)),
    st.builds(Throttle, _keys, st.just(10 * MINUTE)),
    st.builds(Debounce, _keys, st.just(5 * MINUTE), st.sampled_from([None, 8 * MINUTE])),
    st.builds(Pace, _keys, st.just(3 * MINUTE)),
)
_jobs = st.builds(
    NewJob,
    task=st.sampled_from(["greet", "post"]),
    payload=st.sampled_from(['{"n":1}', '{"n":2}']),
    queue=_queues,
    priority=st.integers(-1, 1),
    delay=_weighted((2, st.just(timedelta())), (1, _waits)),
    lane=_lanes,
    limit=_seldom(_limits),
    rule=st.none() | _rules,
    tags=st.sampled_from([(), ("spring",)]),
)


def _settle_kinds(jobs: list[NewJob]) -> tuple[NewJob, ...]:
    """Keep one kind of key in a bunch: a store may insert kind by kind."""
    debounced = any(isinstance(job.rule, Debounce) for job in jobs)
    return tuple(
        msgspec.structs.replace(job, rule=None)
        if debounced and isinstance(job.rule, Unique)
        else job
        for job in jobs
    )


_bunches = st.lists(_jobs, min_size=1, max_size=4).map(_settle_kinds)
_outcomes = st.builds(
    Outcome,
    pick=_picks,
    verdict=st.sampled_from(Verdict),
    wait=_waits,
    at=st.booleans(),
    keep=st.booleans(),
    park=_seldom(_scopes),
    stale=_rarely,
)
_inserts = st.builds(Insert, _bunches)
_claims = st.builds(
    Claim,
    queue=_queues,
    limit=st.integers(1, 6),
    alone=_rarely,
    started=st.booleans(),
    worker=st.sampled_from(WORKERS),
    lease=_leases,
)
_settles = st.builds(
    Settle,
    st.lists(_outcomes, min_size=1, max_size=3, unique_by=lambda outcome: outcome.pick).map(tuple),
)
_shifts = st.builds(
    Shift, st.sampled_from([MINUTE / 60, MINUTE, 4 * MINUTE, 11 * MINUTE, 61 * MINUTE])
)

_set_gates = st.builds(
    SetGate,
    _scopes,
    st.sampled_from([None, None, None, False, False, True]),
    st.none() | _limits,
    _seldom(st.sampled_from([timedelta(), MINUTE, 10 * MINUTE])),
)

_steps: st.SearchStrategy[Step] = _weighted(
    (5, _inserts),
    (10, _claims),
    (8, _settles),
    (4, _shifts),
    (3, st.builds(Rescue, st.sampled_from([1, 3, 3]), st.sampled_from(SILENCES))),
    (2, st.builds(Start, _several)),
    (2, _set_gates),
    (1, st.builds(Renew, st.sampled_from(WORKERS), _several, _leases)),
    (1, st.builds(Cancel, _several)),
    (1, st.builds(Revive, _several)),
    (1, st.builds(Report, _picks, _rarely)),
    (2, st.builds(PutSchedule, _names, _waits, _rarely, st.booleans())),
    (1, st.builds(SetSchedule, _names, st.booleans())),
    (1, st.builds(DropSchedule, _names)),
    (2, st.builds(Fire, _names, _rarely, _rarely, _bunches)),
    (1, st.builds(Prune, _waits, _waits)),
)


@st.composite
def plays(draw: st.DrawFn) -> list[Step]:
    """Draw a run of some forty steps; one long list would be five on average."""
    parts = [draw(st.lists(_steps, max_size=12)) for _ in range(8)]
    return [draw(_inserts), *chain.from_iterable(parts)]
