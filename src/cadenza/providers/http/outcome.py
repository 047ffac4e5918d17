"""What came of a request, told so that nothing is ever sent twice by mistake.

`Reply`: a whole answer, whatever its status. `NotSent`: not one byte of the request went out, so
it may be sent again. `MayHaveArrived`: it may have been carried out, and no whole answer came; find
out before sending again. Only `message` is for a tenant's eyes: reasons can tell what stands behind a
private address, and details go to the operator's log alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """What went wrong, for the product's own decisions."""

    BAD_ADDRESS = "bad_address"  # the URL itself
    BAD_REQUEST = "bad_request"  # a header or body that cannot be sent
    REFUSED = "refused"  # the policy forbids where it leads
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    POOL = "pool"  # no free connection in time
    DEADLINE = "deadline"  # the total time was up
    SENDING = "sending"  # stuck or broken while the request was being written
    READING = "reading"  # no sign of life for too long
    BROKEN = "broken"  # closed, reset or garbled before a whole reply
    TOO_BIG = "too_big"
    WRONG_TYPE = "wrong_type"
    ENCODING = "encoding"
    REDIRECTS = "redirects"
    OTHER = "other"


_UNREACHABLE = "The address could not be reached."
_NO_ANSWER = "No complete answer came; whether the request was carried out is not known."
_SAYS = {
    Reason.TOO_BIG: "The answer was larger than allowed.",
    Reason.WRONG_TYPE: "The answer was not of the expected type.",
    Reason.REDIRECTS: "The address sent us on too many times.",
}


@dataclass(frozen=True, slots=True)
class NotSent:
    """Nothing was sent. The same words for every cause behind the address, so that it is no oracle."""

    reason: Reason
    message: str = _UNREACHABLE

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class MayHaveArrived:
    """Something was sent and no whole answer came; `status` is known if the answer had begun."""

    reason: Reason
    status: int | None = None

    @property
    def message(self) -> str:
        return _SAYS.get(self.reason, _NO_ANSWER)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """A whole answer. Header names are in lower case; `url` is the last one, secrets blotted out."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    elapsed: float

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: str) -> str | None:
        return self.headers.get(name.lower())

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Return the parsed body, or None if it is no JSON: a bad body is no reason to forget a reply."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def __repr__(self) -> str:
        return f"<Reply {self.status} from {self.url}, {len(self.body)} bytes>"


Outcome = Reply | NotSent | MayHaveArrived


class Stop(Exception):
    """Inside this folder: why a walk ended early. `detail` is for the operator's log."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.detail = detail
