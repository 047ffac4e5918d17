"""Whose turn is it to send?

Three ways: round robin goes through the accounts in their order and hands back the
position to keep; balanced takes whoever is free first; sticky leaves a contact with
the account that spoke to them before. Accounts that cannot send are passed over and
do not get their turn back later.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction


class Why(StrEnum):
    """What decided the choice."""

    TURN = "turn"
    BALANCE = "balance"
    STICKY = "sticky"


@dataclass(frozen=True, slots=True)
class Choice:
    """The account that sends, and the position to keep for the next turn."""

    account: str
    position: int
    why: Why


@dataclass(frozen=True, slots=True)
class Load:
    """How busy an account is: the first instant it could take, and its share of the cap."""

    account: str
    free_at: datetime
    planned: int
    cap: int


def take_turn(accounts: Sequence[str], *, enabled: Container[str], position: int) -> Choice | None:
    """Return the next enabled account from `position` on; None if there is none.

    `accounts` keeps its order between calls; a position beyond its end wraps around,
    so that taking an account out of the list upsets nothing.
    """
    for step in range(len(accounts)):
        index = (position + step) % len(accounts)
        if accounts[index] in enabled:
            return Choice(accounts[index], (index + 1) % len(accounts), Why.TURN)
    return None


def take_freest(loads: Sequence[Load], *, position: int = 0) -> Choice | None:
    """Return the account that is free first; ties go to the lowest share of its cap."""
    able = [(load.free_at, _share(load), load.account) for load in loads if load.cap > 0]
    return Choice(min(able)[2], position, Why.BALANCE) if able else None


def stay_with(previous: str | None, *, enabled: Container[str], position: int) -> Choice | None:
    """Return the account that spoke to the contact before, if it still can; costs no turn."""
    if previous is None or previous not in enabled:
        return None
    return Choice(previous, position, Why.STICKY)


def _share(load: Load) -> Fraction:
    return Fraction(load.planned, load.cap)
