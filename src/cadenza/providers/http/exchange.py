"""What was said between us and a network, as a value that people may read, and where a run collects it.

An `Exchange` is bounded and holds no secret: `write_down.py` makes it of a request, the adapters of other
protocols make it themselves. A `ExchangeLog` belongs to one run of one delivery; of a long run it keeps the
beginning and the end. Limit: a process that dies takes its notebook along; the outcome does not hang on it.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from cadenza.providers.http.redact import Secret

FIRST, LAST = 4, 12  # how many exchanges of a run are kept, from its beginning and its end


class Step(StrEnum):
    """At what point of the pipeline it was said."""

    PREPARE = "prepare"
    PUBLISH = "publish"
    FINISH = "finish"
    FIND_OUT = "find_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question and what came back. Every text in it is already without secrets."""

    step: Step = Step.PREPARE
    began_at: datetime
    seconds: float
    method: str  # of HTTP, or the name of another protocol
    place: str  # host and path, the query's harmless values
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    status: int | None = None  # None: no answer began to come
    reply_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    reply: str | None = None
    message: str = ""  # why there is no whole answer
    left_out: int = 0  # how many before it in this run were not kept

    def as_data(self) -> dict[str, Any]:
        """Show what is kept beside step and time."""
        return {
            "seconds": round(self.seconds, 3),
            "method": self.method,
            "place": self.place,
            "headers": dict(self.headers),
            "body": self.body,
            "status": self.status,
            "reply_headers": dict(self.reply_headers),
            "reply": self.reply,
            "message": self.message,
            "left_out": self.left_out,
        }


class ExchangeLog:
    """What a run has said so far."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self.step = Step.PREPARE
        self.secrets = tuple(secrets)  # of the run, besides those that a request names
        self._first: list[Exchange] = []
        self._last: deque[Exchange] = deque(maxlen=LAST)
        self._seen = 0

    def add(self, exchange: Exchange) -> None:
        """Keep one, under the step that the run is at."""
        exchange = replace(exchange, step=self.step)
        self._seen += 1
        if len(self._first) < FIRST:
            self._first.append(exchange)
        else:
            self._last.append(exchange)

    def take(self) -> tuple[Exchange, ...]:
        """Hand over what was kept, in order, and start over."""
        left_out = self._seen - len(self._first) - len(self._last)
        last = list(self._last)
        if left_out:
            last[0] = replace(last[0], left_out=left_out)
        taken = (*self._first, *last)
        self._first, self._seen = [], 0
        self._last.clear()
        return taken
