"""How a network is asked for what came in, where it may not tell us by itself.

A folder that names a `POLLER` offers it. It returns events in the shape in which the network's own webhooks tell them,
so one reader understands both, and what came twice is known by the same id.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from cadenza.providers.base import AttemptContext
from cadenza.providers.outcome import Outcome


@dataclass(frozen=True, slots=True)
class PollRange:
    """What to ask for: all that came since then, and new relations, where they are wanted."""

    since: datetime
    relations: bool
    known: tuple[str, ...] | None = None  # relations; None: never read, so all there are, are old


@dataclass(frozen=True, slots=True)
class Polled:
    """What came in, oldest first, and the relations that are known now."""

    events: tuple[Mapping[str, Any], ...]
    known: tuple[str, ...] | None


class Poller(Protocol):
    """Asks a network what came in for one account."""

    async def poll(self, call: AttemptContext, wanted: PollRange) -> Polled | Outcome:
        """Return what came in; nothing over there is changed."""
        ...
