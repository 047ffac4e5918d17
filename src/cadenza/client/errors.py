"""What a call may come to besides its answer: exceptions that a program can tell apart.

A refusal is a `Problem` (RFC 9457) of the class that its status says; `code` is its stable name, listed in
`docs/reference/problems.md`. In all of them nothing was changed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_FROM = re.compile(r"^(body|query|path)\.")  # where a field came in


class ClientError(Exception):
    """A call did not come to its answer; the message says what was wrong and what to do."""


class Unreachable(ClientError):
    """Nobody answers at that address, or only with a gateway's error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the input."""

    path: str
    message: str
    code: str


class Problem(ClientError):
    """The server refused: nothing was changed."""

    def __init__(
        self, status: int, body: Mapping[str, Any], *, retry_after: float | None = None
    ) -> None:
        self.status = status
        self.code = str(body.get("type", "")).rpartition(":")[2] or "refused"
        self.title = str(body.get("title") or "Refused")
        self.detail = str(body.get("detail") or body.get("title") or f"status {status}")
        self.request_id: str | None = body.get("instance")
        self.faults: Sequence[Fault] = tuple(
            Fault(str(each.get("path")), str(each.get("message")), str(each.get("code")))
            for each in body.get("errors") or ()
        )
        self.retry_after = retry_after
        self.extra = dict(body)
        super().__init__(self.detail)

    def lines(self) -> list[str]:
        """Word it for people, a line a fault, by the names of the fields alone."""
        told = [f"{_FROM.sub('', fault.path)}: {fault.message}" for fault in self.faults]
        if len(told) == 1 and self.detail == f"{self.faults[0].path}: {self.faults[0].message}":
            return told
        return [self.detail, *(f"  {each}" for each in told if len(told) > 1)]


class NotSignedIn(Problem):
    """401: the key is unknown, was revoked or has ended."""


class NotAllowed(Problem):
    """403: the key's scopes or role do not cover it."""


class NotFound(Problem):
    """404: there is no such thing, or it is somebody else's."""


class Conflict(Problem):
    """409: it does not go with how things stand now."""


class Changed(Problem):
    """412: somebody changed it meanwhile; `current` is how it is now."""

    @property
    def current(self) -> Any:
        """The thing as it is now."""
        return self.extra.get("current")


class Invalid(Problem):
    """400 or 422: the input is wrong; `faults` names every field."""


class TooOften(Problem):
    """429: come back after `retry_after` seconds."""


class NotAvailable(Problem):
    """503: the server cannot do it now."""


_KINDS: Mapping[int, type[Problem]] = {
    400: Invalid,
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Changed,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: TooOften,
    503: NotAvailable,
}


def problem_of(
    status: int, body: Mapping[str, Any], *, retry_after: float | None = None
) -> Problem:
    """Make the exception of a refusal."""
    return _KINDS.get(status, Problem)(status, body, retry_after=retry_after)
