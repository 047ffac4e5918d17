"""Chooses who writes to whom: in turn, by load, or whoever wrote before. Pure; the caller stores turn and choice.

Accounts that cannot send now, or not by the step's channel, are passed over; the others keep their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cadenza.core.channels import Channel
from cadenza.outreach.model import Assignment


@dataclass(slots=True)
class Desk:
    """The accounts of a sequence as they stand: who can send by which channel, and how much each has to do."""

    order: Sequence[str]
    usable: Mapping[str, frozenset[Channel]]
    load: dict[str, float] = field(default_factory=dict[str, float])  # messages ahead
    caps: Mapping[str, int] = field(default_factory=dict[str, int])  # a day
    turn: int = 0

    def can(self, account_id: str | None, channel: Channel) -> bool:
        """Say whether an account can send by a channel now."""
        return account_id is not None and channel in self.usable.get(account_id, ())


def choose(
    desk: Desk, assignment: Assignment, channel: Channel, *, before: Sequence[str] = ()
) -> str | None:
    """Choose the account for one message and count it; `before` wrote to this person, the last one first.

    None: no account of the sequence can send it now.
    """
    kept = next((id_ for id_ in before if id_ in desk.usable and desk.can(id_, channel)), None)
    if kept is None:
        kept = _least(desk, channel) if assignment is Assignment.BALANCED else _next(desk, channel)
    if kept is not None:
        desk.load[kept] = desk.load.get(kept, 0) + 1
    return kept


def _next(desk: Desk, channel: Channel) -> str | None:
    count = len(desk.order)
    for step in range(count):
        place = (desk.turn + step) % count
        if desk.can(desk.order[place], channel):
            desk.turn = (place + 1) % count
            return desk.order[place]
    return None


def _least(desk: Desk, channel: Channel) -> str | None:
    able = [id_ for id_ in desk.order if desk.can(id_, channel)]
    return min(
        able, key=lambda id_: desk.load.get(id_, 0) / max(1, desk.caps.get(id_, 1)), default=None
    )
