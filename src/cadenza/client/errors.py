"""What a call may come to besides its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ClientError(Exception):
    """A call did not come to its answer; the message says what was wrong and what to do."""


class Unreachable(ClientError):
    """Nobody answers at that address, or only with a gateway's error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the input."""

    path: str
    says: str
    code: str


class Problem(ClientError):
    """The server refused: nothing was changed."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(body.get("type", "")).rpartition(":")[2] or "refused"
        self.detail = str(body.get("detail") or body.get("title") or f"status {status}")
        self.request_id: str | None = body.get("instance")
        self.faults: Sequence[Fault] = tuple(
            Fault(str(each.get("path")), str(each.get("says")), str(each.get("code")))
            for each in body.get("errors") or ()
        )
        self.extra = dict(body)
        super().__init__(self.detail)

    def lines(self) -> list[str]:
        """Word it for people, a line a fault."""
        if len(self.faults) < 2:
            return [self.detail]
        return [self.detail, *(f"  {fault.path}: {fault.says}" for fault in self.faults)]
