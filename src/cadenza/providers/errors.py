"""What a network's refusal means, as rows of data: status, code, subcode, verdict, words for a person.

A network's `errors.py` holds a `Table`: how its error body is read, and rows, the most telling first.
Rows match parsed codes by equality, never words inside a sentence; None matches anything. What no row
knows has a row of its own, which says so and never claims that nothing happened.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.core.budgets import Period
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    RecipientGone,
    Rejected,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)

Code = str | int | None
LONGEST = 300  # of the network's own words; the rest tells nobody more
A_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error body, read: the codes it carries, its own words, how long it asks to wait."""

    status: int
    code: Code = None
    subcode: Code = None
    words: str = ""
    wait: timedelta | None = None
    passing: bool = False  # the network itself says that this will pass
    irreversible: bool = False  # set by reply.py: the call that must not happen twice

    @property
    def name(self) -> str:
        """Return the codes in one word, to be stored and searched for."""
        parts = (self.code if self.code is not None else self.status, self.subcode)
        return "/".join(str(part) for part in parts if part is not None)


Verdict = Callable[[Refusal, str], Outcome]


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of refusal. `message` tells a person what is wrong and what to do."""

    status: int | None
    code: Code
    subcode: Code
    verdict: Verdict
    message: str

    def fits(self, refusal: Refusal) -> bool:
        return (
            self.status in {None, refusal.status}
            and self.code in {None, refusal.code}
            and self.subcode in {None, refusal.subcode}
        )


# Verdicts


def rejected(refusal: Refusal, message: str) -> Outcome:
    """This content can never succeed."""
    return Rejected(message, refusal.name)


def recipient_gone(refusal: Refusal, message: str) -> Outcome:
    """This recipient cannot be reached."""
    return RecipientGone(message, refusal.name)


def recipient_shut(refusal: Refusal, message: str) -> Outcome:
    """This recipient blocked us or is closed for good: nothing else needs to be tried."""
    return RecipientGone(message, refusal.name, shut_out=True)


def forbidden(refusal: Refusal, message: str) -> Outcome:
    """A right is missing; a person must act."""
    return Forbidden(message, refusal.name)


def disconnected(refusal: Refusal, message: str) -> Outcome:
    """The token is not accepted."""
    return Disconnected(message, refusal.name)


def transient(refusal: Refusal, message: str) -> Outcome:
    """Nothing happened, and the network says so."""
    return Transient(message, wait=refusal.wait, out_of_order=refusal.status >= 500)


def stumbled(refusal: Refusal, message: str) -> Outcome:
    """Nothing happened, and another one might well get through."""
    return Transient(message, wait=refusal.wait)


def out_of_order(refusal: Refusal, message: str) -> Outcome:
    """Nothing happened, and nothing else would get through there now."""
    return Transient(message, wait=refusal.wait, out_of_order=True)


def transient_for(wait: timedelta) -> Verdict:
    """Make the verdict of a failure that will not pass sooner."""
    return lambda refusal, message: Transient(message, wait=refusal.wait or wait)


def prepare_again(refusal: Refusal, message: str) -> Outcome:
    """What was prepared is gone over there; nothing happened."""
    return Transient(message, restart=True)


def unsure(refusal: Refusal, message: str) -> Outcome:
    """It may have happened: to be found out if that matters, else tried again."""
    if refusal.irreversible:
        return Unconfirmed(message)
    return Transient(message, wait=refusal.wait, out_of_order=refusal.status >= 500)


def not_ready(wait: timedelta) -> Verdict:
    """Make the verdict that what was prepared is still being worked on."""
    return lambda refusal, message: NotReady(refusal.wait or wait, message)


def try_later(reach: WaitScope, otherwise: timedelta | None = None) -> Verdict:
    """Make the verdict of a rate limit; `otherwise` is waited if the network names no time, else ever longer."""
    return lambda refusal, message: TryLater(
        refusal.wait or otherwise or A_MINUTE,
        reach,
        message,
        named=bool(refusal.wait or otherwise),
    )


def used_up(period: Period) -> Verdict:
    """Make the verdict of a quota: nothing more of the action before the account's next day or week."""
    return lambda refusal, message: TryLater(timedelta(), WaitScope.ACTION, message, period=period)


def blocked_for(wait: timedelta) -> Verdict:
    """Make the verdict of a network that punishes the account for a while."""
    return lambda refusal, message: TryLater(
        refusal.wait or wait, WaitScope.ACCOUNT, message, block=True
    )


def _by_status(refusal: Refusal, message: str) -> Outcome:
    if refusal.status == 429:
        return try_later(WaitScope.ACCOUNT)(refusal, message)
    if refusal.passing or refusal.status >= 500 or refusal.status in {408, 499}:
        return unsure(refusal, message)
    return Rejected(message, f"unknown:{refusal.name}")


UNKNOWN = Row(None, None, None, _by_status, "The network refused for a reason that is not known")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """How one network refuses. `read` returns None if the body is not the network's (a proxy's page)."""

    network: str
    read: Callable[[Reply, datetime], Refusal | None]
    rows: tuple[Row, ...]
    unknown: Row = UNKNOWN
    # Who rests when something before the network asks for it. Where accounts live on servers of people's own
    # choice it is the account alone: one server must not hold up all the others.
    before_it: WaitScope = WaitScope.APP

    def row(self, refusal: Refusal) -> Row:
        """Return the first row that fits, else the row of the unknown."""
        return next((row for row in self.rows if row.fits(refusal)), self.unknown)

    def judge(self, refusal: Refusal) -> Outcome:
        """Turn a refusal into an outcome, with our words and the network's."""
        row = self.row(refusal)
        words = refusal.words.strip()[:LONGEST]
        message = f"{row.message}. {self.network} said: {words}" if words else f"{row.message}."
        return row.verdict(refusal, message)


def on_irreversible(refusal: Refusal) -> Refusal:
    """Mark a refusal as the answer to the call that must not happen twice."""
    return replace(refusal, irreversible=True)
