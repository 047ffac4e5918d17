"""What planners ask of the pipeline, and what it asks of them.

A planner registers when the product starts. The pipeline imports none: it calls those whose deliveries it moves, in
the transaction that moves them, a batch at a time. Posts of queues and rules have no planner here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.model import Delivery
from cadenza.providers.outcome import Outcome
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key


class Transition(NamedTuple):
    """A delivery as it was, and the state that it has now."""

    delivery: Delivery
    after: State
    outcome: Outcome | None = None  # of the call that made it so


@dataclass(frozen=True, slots=True)
class Refused:
    """A gate sent a delivery back: which one, and when it would open."""

    delivery: Delivery
    gate: str
    until: datetime


class Planner:
    """What a planner may do; each does what it needs."""

    announces = True  # whether people get a notice and programs an event of each delivery

    def count(self, tx: Tx, now: datetime, transitions: Sequence[Transition]) -> None:
        """Count what became of its deliveries."""

    def rest(self, tx: Tx, now: datetime, deliveries: Sequence[Delivery]) -> None:
        """Hear that networks asked the accounts of its deliveries to wait."""

    def replan(self, tx: Tx, now: datetime, refused: Sequence[Refused]) -> Mapping[Key, datetime]:
        """Return other times for deliveries that a gate sent back; the others wait until it opens."""
        return {}


_NOBODY = Planner()
_WAITS = frozenset({State.DRAFT, State.SCHEDULED, State.SENDING})
_planners: dict[str, Planner] = {}


def register(name: str, planner: Planner) -> None:
    """Let a planner take part: `campaign` or `sequence`, as `Delivery.planner` says."""
    _planners[name] = planner


def announces(planner: str | None) -> bool:
    """Say whether single deliveries of a planner are news."""
    return _planners.get(planner or "", _NOBODY).announces


def count(tx: Tx, now: datetime, transitions: Iterable[Transition]) -> None:
    """Tell planners what became of their deliveries; scheduled and sending are the same to them: it waits."""
    of: dict[str, list[Transition]] = defaultdict(list)
    for each in transitions:
        moved = (each.delivery.state in _WAITS) != (each.after in _WAITS)
        ended = each.after not in _WAITS and each.after is not each.delivery.state
        if each.delivery.planner is not None and (moved or ended):
            of[each.delivery.planner].append(each)
    for name in sorted(of):
        _planners.get(name, _NOBODY).count(tx, now, of[name])


def rest(tx: Tx, now: datetime, deliveries: Iterable[Delivery]) -> None:
    """Tell planners whose deliveries a network put off."""
    of: dict[str, list[Delivery]] = defaultdict(list)
    for each in deliveries:
        if each.planner is not None:
            of[each.planner].append(each)
    for name in sorted(of):
        _planners.get(name, _NOBODY).rest(tx, now, of[name])


def replan(tx: Tx, now: datetime, refused: Iterable[Refused]) -> dict[Key, datetime]:
    """Ask planners for other times for what a gate sent back."""
    of: dict[str, list[Refused]] = defaultdict(list)
    for each in refused:
        if each.delivery.planner is not None:
            of[each.delivery.planner].append(each)
    moved: dict[Key, datetime] = {}
    for name in sorted(of):
        moved |= _planners.get(name, _NOBODY).replan(tx, now, of[name])
    return moved
