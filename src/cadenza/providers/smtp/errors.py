"""How mail servers refuse: a reply code, often an enhanced code (RFC 3463), and the stage it came at.

Rows match the basic code as `status`, the enhanced code as `code`, the stage as `subcode`; rows with an
enhanced code come first, since it is the more exact; one whose detail is not known is judged by its
subject (5.7 policy, 5.6 content, 5.1 address). Two names are ours: `rate`, for a 4.7 refusal whose
text tells of a rate, and `quota`, for one that tells of a day's limit, as servers have no code for them. Limit: what a server means by 554 only it knows.
"""

import re
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.core.budgets import Period
from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    recipient_gone,
    rejected,
    transient,
    transient_for,
    try_later,
    unsure,
    used_up,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import Outcome, Rejected, Transient, WaitScope
from cadenza.providers.waits import bounded


class Stage(StrEnum):
    """Where in the dialogue a reply came."""

    CONNECT = "connect"
    HELLO = "hello"
    TLS = "tls"
    AUTH = "auth"
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    DOT = "dot"  # the reply after which a message is the server's


RATE = "rate"
QUOTA = "quota"
GREYLIST = timedelta(minutes=10)
FULL = timedelta(hours=4)
AN_HOUR = timedelta(hours=1)
_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?=\s|$)")
_RATE = re.compile(r"(?i)\brate\b|\bthrottl|\btoo (?:many|much|quickly|fast)\b")
_QUOTA = re.compile(r"(?i)\b(?:daily|24.hour)\b.*\b(?:quota|limit)\b")
_WAIT = re.compile(r"(?i)\b(\d{1,5})\s*(second|minute|hour)s?\b")


def read_reply(status: int, text: str, stage: Stage) -> Refusal:
    """Read a reply of the server."""
    found = _ENHANCED.match(text)
    enhanced = found[1] if found else None
    code = enhanced
    if enhanced == "5.4.5" or (status == 454 and _QUOTA.search(text)):
        code = QUOTA
    elif enhanced and enhanced.startswith("4.7.") and _RATE.search(text):
        code = RATE
    waits = _WAIT.search(text) if status < 500 else None
    wait = bounded(timedelta(**{f"{waits[2].lower()}s": int(waits[1])})) if waits else None
    return Refusal(
        status=status,
        code=code,
        subcode=stage.value,
        words=f"{status} {' '.join(text.split())}",
        wait=wait,
        irreversible=stage is Stage.DOT,
    )


def _not_http(reply: Reply, now: datetime) -> Refusal | None:
    return None


def _by_class(refusal: Refusal, message: str) -> Outcome:
    """Judge what no row knows by its class; the enhanced code's digit is the more exact."""
    first = str(refusal.code or refusal.status)[0]
    return Rejected(message, f"unknown:{refusal.name}") if first == "5" else Transient(message)


class _Subject(Row):
    """A row for all enhanced codes of a class and subject, whatever their detail."""

    __slots__ = ()

    def fits(self, refusal: Refusal) -> bool:
        """Match `5.7` with 5.7.509, which one provider has made up for itself."""
        return str(refusal.code).startswith(f"{self.code}.") and self.subcode in {
            None,
            refusal.subcode,
        }


def _enhanced(code: str, verdict: object, message: str, stage: Stage | None = None) -> Row:
    return Row(None, code, stage.value if stage else None, verdict, message)  # pyright: ignore[reportArgumentType]


_GONE = "The address does not exist"
_POLICY = "The mail server does not trust this sender; look at its SPF, DKIM and reputation"
_SETUP = "The mail server did not understand us; check the account's settings"

TABLE = Table(
    network="The mail server",
    read=_not_http,
    rows=(
        # It may have taken the message before it went away.
        Row(421, None, Stage.DOT, unsure, "The mail server went away after it had the message"),
        _enhanced(RATE, try_later(WaitScope.ACCOUNT), "The mail server asks to slow down"),
        _enhanced(QUOTA, used_up(Period.DAY), "The day's limit of mails is reached"),
        # Signing in
        Row(454, None, Stage.AUTH, transient, "The mail server cannot check the password now"),
        _enhanced("5.7.8", disconnected, "The mail server does not accept the password"),
        Row(535, None, None, disconnected, "The mail server does not accept the password"),
        Row(530, None, None, disconnected, "The mail server wants a sign-in or encryption first"),
        Row(534, None, None, disconnected, "The mail server wants another way to sign in"),
        Row(538, None, None, disconnected, "The mail server wants encryption to sign in"),
        Row(432, None, None, disconnected, "The mail server wants a new password to be set"),
        # The recipient
        *(
            _enhanced(f"5.1.{detail}", recipient_gone, _GONE, Stage.RCPT)
            for detail in (1, 2, 3, 6, 10)
        ),
        _enhanced("5.1.1", recipient_gone, _GONE, Stage.DOT),
        _enhanced("5.2.1", recipient_gone, "The mailbox is closed"),
        _enhanced(
            "4.2.1", try_later(WaitScope.RECIPIENT, AN_HOUR), "The mailbox gets too much mail"
        ),
        _enhanced("5.2.2", transient_for(FULL), "The mailbox is full"),
        _enhanced("4.2.2", transient_for(FULL), "The mailbox is full"),
        Row(551, None, Stage.RCPT, recipient_gone, "The person has moved elsewhere"),
        # The message
        _enhanced("5.3.4", rejected, "The message is too large"),
        _enhanced("5.2.3", rejected, "The message is too large for this mailbox"),
        # The sender
        _enhanced("5.7.1", forbidden, _POLICY),
        *(_enhanced(f"5.7.{detail}", forbidden, _POLICY) for detail in range(25, 30)),
        _enhanced("5.1.7", forbidden, "The sender's address is not accepted"),
        _enhanced("5.1.8", forbidden, "The sender's address is not accepted"),
        # By the subject of an enhanced code that is not known
        Row(552, "5.7.0", None, rejected, "The mail server takes no such content or file"),
        _Subject(None, "5.7", None, forbidden, _POLICY),
        _Subject(None, "5.6", None, rejected, "The mail server does not take mail of this form"),
        _Subject(None, "5.1", Stage.RCPT, recipient_gone, _GONE),
        # Without an enhanced code that is known
        Row(550, None, Stage.RCPT, recipient_gone, "The mailbox is not there"),
        Row(553, None, Stage.RCPT, recipient_gone, "The address is not allowed"),
        Row(521, None, Stage.RCPT, recipient_gone, "The domain takes no mail"),
        Row(556, None, Stage.RCPT, recipient_gone, "The domain takes no mail"),
        Row(521, None, None, forbidden, "This host takes no mail; check the account's settings"),
        Row(552, None, Stage.RCPT, transient_for(FULL), "The mailbox is full"),
        Row(552, None, None, rejected, "The message is too large"),
        Row(554, None, None, forbidden, _POLICY),
        Row(550, None, None, forbidden, _POLICY),
        Row(553, None, None, forbidden, "The sender's address is not accepted"),
        *(Row(code, None, None, forbidden, _SETUP) for code in (500, 501, 502, 503, 504, 555)),
        Row(421, None, None, try_later(WaitScope.ACCOUNT), "The mail server is busy"),
        Row(454, None, None, try_later(WaitScope.ACCOUNT), "The mail server is busy"),
        Row(450, None, None, transient_for(GREYLIST), "The mail server asks to come again"),
        Row(451, None, None, transient_for(GREYLIST), "The mail server asks to come again"),
        Row(452, None, None, transient_for(GREYLIST), "The mail server is short of room"),
        Row(455, None, None, transient, "The mail server cannot do this now"),
    ),
    unknown=Row(None, None, None, _by_class, "The mail server refused for an unknown reason"),
)
