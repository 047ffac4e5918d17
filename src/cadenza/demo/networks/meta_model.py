"""What every Graph keeps: tokens of people and pages, counted calls, and the envelope of its refusals."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.simulator.wire import Answer, say

VERSION = "v26.0"
SHORT = timedelta(hours=2)
LONG = timedelta(seconds=5183944)
YOUNGEST = timedelta(hours=24)  # before which Instagram and Threads renew no token
UNSEEN_LIFE = timedelta(hours=24)
# Why a token is not taken any more, as subcodes of 190.
TROUBLE = {
    "expired": (463, "Error validating access token: Session has expired."),
    "removed": (458, "The user has not authorized application."),
    "checkpoint": (459, "The user must log in at www.facebook.com."),
    "password": (460, "The session was invalidated because the password was changed."),
    "unconfirmed": (464, "The user is not confirmed."),
    "invalid": (467, "The access token is invalid."),
    "role": (492, "The user has no role on the page any more."),
}


@dataclass(slots=True)
class Token:
    """A token of a person or of a page; `opens` are the pages or the account that it is for."""

    value: str
    kind: str  # USER or PAGE
    owner: str
    made_at: datetime
    ends_at: datetime | None = None
    scopes: tuple[str, ...] = ()
    trouble: str = ""
    parent: str = ""  # of a page's token: the person's


@dataclass(slots=True)
class Member:
    """A page, or an account of Instagram or Threads."""

    id: str
    name: str
    tasks: tuple[str, ...] = ("CREATE_CONTENT", "MANAGE")
    listed: bool = True  # in /me/accounts; pages of a business may not be
    trouble: tuple[int, int, str] | None = None  # code, subcode, words of every refusal
    admins: tuple[str, ...] = ()
    twin: str = ""  # the Instagram account that belongs to a page


@dataclass(slots=True)
class Codes:
    """What a sign-in handed out: each code is good once."""

    redirect_uri: str = ""
    open: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])


class GraphRefused(Exception):
    """A refusal on its way out; handlers raise it wherever they notice."""

    def __init__(
        self,
        code: int,
        words: str,
        subcode: int = 0,
        *,
        status: int = 400,
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(words)
        self.code = code
        self.words = words
        self.subcode = subcode
        self.status = status
        self.data = data

    def answer(self, trace: str) -> Answer:
        """Put it into the envelope."""
        return envelope(
            self.code, self.words, self.subcode, status=self.status, trace=trace, data=self.data
        )


def envelope(
    code: int,
    words: str,
    subcode: int = 0,
    *,
    status: int = 400,
    trace: str = "A1b2C3",
    transient: bool = False,
    user_words: str = "",
    data: dict[str, Any] | None = None,
) -> Answer:
    """Make a refusal as a Graph says it."""
    error: dict[str, Any] = {
        "message": f"(#{code}) {words}",
        "type": "OAuthException",
        "code": code,
        "is_transient": transient,
        "fbtrace_id": trace,
    }
    if subcode:
        error["error_subcode"] = subcode
    if data:
        error["error_data"] = data
    if user_words:
        error |= {"error_user_title": "Not possible", "error_user_msg": user_words}
    return say(status, {"error": error})
