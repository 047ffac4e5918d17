"""What one call to a network can come to.

Outcomes are values; the pipeline turns them into writes in one `match`. The split that matters is whether
the irreversible call may have happened: only `Unconfirmed` says "perhaps", and nothing is ever sent
again on a perhaps. An address that a network gives is kept only if it leads to the web: people click on it.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.core.budgets import Period

_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"]+", re.IGNORECASE)


def web_address(url: str | None) -> str | None:
    """Return an address that may be clicked on; a network's answer brings no script into a page."""
    return url if isinstance(url, str) and _WEB.fullmatch(url) else None


class WaitScope(StrEnum):
    """How far a wait goes: what must be left alone meanwhile."""

    RECIPIENT = "recipient"  # one chat, one address
    ACCOUNT = "account"
    ACTION = "action"  # one action of the account: mails, invitations
    APP = "app"  # everything that uses our app's credentials


@dataclass(frozen=True, slots=True)
class Sent:
    """It is out. `remote_id` may be unknown for a while; `find_out` can bring it."""

    remote_id: str | None
    url: str | None = None
    note: str | None = None
    moved_to: str | None = None  # the recipient's new address, to be kept for the next time

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", web_address(self.url))


@dataclass(frozen=True, slots=True)
class NotReady:
    """The other side is still at work on what was prepared: ask again, nothing is burnt."""

    wait: timedelta
    message: str = ""


@dataclass(frozen=True, slots=True)
class TryLater:
    """A rate or flood wait: leave that reach alone for so long; no attempt is burnt."""

    wait: timedelta
    reach: WaitScope
    message: str
    block: bool = False  # a punishment of the account: the second in a row stops it
    named: bool = True  # by the network; else the account waits longer each time, from a minute on
    period: Period | None = None  # what is used up: nothing before the next day or week


@dataclass(frozen=True, slots=True)
class Transient:
    """Nothing happened and it may work next time; burns an attempt. `restart`: prepare again."""

    message: str
    restart: bool = False
    wait: timedelta | None = None  # trying sooner is in vain, e.g. with a greylisting mail server
    out_of_order: bool = (
        False  # no call would have got through: the network's trouble, not this one's
    )


@dataclass(frozen=True, slots=True)
class Rejected:
    """This content can never succeed here."""

    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class RecipientGone:
    """This recipient cannot be reached, now or later; others can."""

    message: str
    code: str = ""
    shut_out: bool = False  # the other side blocked us or is closed: once is enough


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The token is good, a right is missing: a person must act, the account stays."""

    message: str
    code: str = ""


NOTHING_TO_RENEW = "nothing_to_renew"  # the code of a refresh that cannot even be asked for


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The token is not accepted: refresh once, then ask for a reconnect."""

    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The call may have happened and no answer came: find out, never resend blindly."""

    message: str


Outcome = (
    Sent
    | NotReady
    | TryLater
    | Transient
    | Rejected
    | RecipientGone
    | Forbidden
    | Disconnected
    | Unconfirmed
)


@dataclass(frozen=True, slots=True)
class Found:
    """It is there; under which id may still be unknown, as after a success that names none."""

    remote_id: str | None
    url: str | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", web_address(self.url))


@dataclass(frozen=True, slots=True)
class Absent:
    """It is provably not there: sending again is safe."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """This network gives no way to know, or did not answer: `again` says when to ask once more."""

    message: str
    again: timedelta | None = None


Finding = Found | Absent | CannotTell
