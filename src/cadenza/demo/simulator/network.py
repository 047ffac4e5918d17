"""What a network is made of: routes on methods, endpoints, and a state that all share.

A world subclasses `SimulatedNetwork`, names itself, marks handlers with `@route` and says how its refusals look.
Handlers see `Received` and return `Answer`; faults happen around them, in connection.py, so no world
knows of faults. A world that does not speak HTTP (mail) returns a `EndpointServer` of its own for its door.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol

from cadenza.demo.simulator.clock import SimulatorClock
from cadenza.demo.simulator.faults import Faults
from cadenza.demo.simulator.ids import Ids
from cadenza.demo.simulator.ledger import Entry, Ledger
from cadenza.demo.simulator.wire import Answer, Received, Unreadable, say

log = logging.getLogger("cadenza.simulator")

Handler = Callable[[Any, Received], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path pattern; `{name}` stands for one or more characters but a slash."""

    method: str
    pattern: str
    handler: Handler

    @property
    def name(self) -> str:
        return f"{self.method} {self.pattern}"

    def match(self, path: str) -> dict[str, str] | None:
        """Return the named parts of a path that fits, else None."""
        spots = re.split(r"\{(\w+)\}", self.pattern)
        regex = "".join(
            f"(?P<{spot}>[^/]+)" if index % 2 else re.escape(spot)
            for index, spot in enumerate(spots)
        )
        found = re.fullmatch(regex, path)
        return found.groupdict() if found else None


def route(method: str, pattern: str) -> Callable[[Handler], Handler]:
    """Mark a handler of a world."""

    def mark(handler: Handler) -> Handler:
        handler.__dict__["route"] = (method, pattern)
        return handler

    return mark


@dataclass(slots=True)
class SharedState:
    """What all networks of one simulator share."""

    clock: SimulatorClock
    ids: Ids
    ledger: Ledger
    media: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])


class EndpointServer(Protocol):
    """Who speaks with the clients of one door."""

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak with one client until either side has enough."""
        ...

    async def cut(self) -> None:
        """End every connection."""
        ...

    async def quiet(self) -> None:
        """Wait until nothing is at work."""
        ...


class SimulatedNetwork:
    """A network."""

    name: ClassVar[str]
    endpoints: ClassVar[tuple[str, ...]] = (
        "api",
    )  # a port each: hosts that differ on the real network

    def __init__(self) -> None:
        self.faults = Faults()
        self.received: list[Received] = []
        self.ports: dict[str, int] = {}
        self._stage: SharedState | None = None
        # A path that is spelt out goes before one with names in it.
        self._routes = sorted(_routes(type(self)), key=lambda each: each.pattern.count("{"))

    def join(self, shared: SharedState) -> None:
        """Take a place in a simulation; called once, before the doors open."""
        self._stage = shared

    @property
    def shared(self) -> SharedState:
        assert self._stage is not None, "open the network with `simulate` first"
        return self._stage

    @property
    def now(self) -> datetime:
        return self.shared.clock.now()

    def url(self, endpoint: str = "api") -> str:
        """Return the base address of a door, without a slash at the end."""
        return f"http://127.0.0.1:{self.ports[endpoint]}"

    def show(self, entry: Entry) -> Entry:
        """Make something visible."""
        return self.shared.ledger.add(entry)

    # What a world may say about itself

    def account_of(self, call: Received) -> str | None:
        """Say whose call it is, as far as faults are planned by account."""
        return None

    def expire_token(self, call: Received) -> None:
        """Let the token of this call run out now."""

    def repeat(self, call: Received) -> Received:
        """Return the call as a proxy would repeat it."""
        return call

    def unreadable(self, call: Received, why: str) -> Answer:
        """Refuse a body that cannot be read, in the network's own shape."""
        return say(400, {"error": why})

    def not_found(self, call: Received) -> Answer:
        """Refuse an unknown path."""
        return say(404, {"error": "Not Found"})

    def wrong_method(self, call: Received) -> Answer:
        """Refuse a known path with another method."""
        return self.not_found(call)

    def endpoint_server(self, endpoint: str) -> EndpointServer | None:
        """Return who speaks at this door, where it is not HTTP."""
        return None

    # What the server asks of it

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """Return the route of a request with its named parts."""
        for each in self._routes:
            args = each.match(path) if each.method == method else None
            if args is not None:
                return each, args
        return None

    async def answer(self, found: Route | None, call: Received) -> Answer:
        """Let the handler work; a body it cannot read is refused in the world's words."""
        if found is None:
            known = any(each.match(call.path) is not None for each in self._routes)
            return self.wrong_method(call) if known else self.not_found(call)
        try:
            return await found.handler(self, call)
        except Unreadable as error:
            return self.unreadable(call, str(error))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            # Not the shape that the handler reads: refused as networks do, and told to who looks. Hanging up
            # would look like a network that is down.
            log.warning("%s: %s was not understood: %r", self.name, found.name, error)
            return self.unreadable(call, "the request is not understood")


def _routes(simulated: type[SimulatedNetwork]) -> Iterator[Route]:
    for name in dir(simulated):
        member: Any = getattr(simulated, name)
        if "route" in getattr(member, "__dict__", {}):
            method, pattern = member.__dict__["route"]
            yield Route(method, pattern, member)
