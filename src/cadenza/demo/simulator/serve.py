"""Open the doors: `simulate(...)` for tests, `serve(...)` for people.

Each door of each world listens on a port of its own on 127.0.0.1 (nowhere else: there is no security
here). Shutting a door frees its port's listener and cuts what is connected, so that clients meet a
true "connection refused"; opening it takes the same port again.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from cadenza.demo.simulator.clock import SimulatorClock
from cadenza.demo.simulator.connection import Connections
from cadenza.demo.simulator.ids import Ids
from cadenza.demo.simulator.ledger import Entry, Ledger
from cadenza.demo.simulator.network import EndpointServer, SharedState, SimulatedNetwork

HOST = "127.0.0.1"


@dataclass(slots=True)
class Simulator:
    """Open worlds on one stage."""

    shared: SharedState
    simulated_networks: tuple[SimulatedNetwork, ...]
    _doors: dict[tuple[str, str], tuple[asyncio.Server, EndpointServer]] = field(
        default_factory=dict[tuple[str, str], tuple[asyncio.Server, EndpointServer]]
    )

    @property
    def clock(self) -> SimulatorClock:
        return self.shared.clock

    @property
    def ledger(self) -> Ledger:
        return self.shared.ledger

    def visible(self, simulated: SimulatedNetwork, account: str | None = None) -> list[Entry]:
        """List what people see of an account."""
        return self.shared.ledger.of(simulated.name, account)

    def put_media(self, simulated: SimulatedNetwork, name: str, mime: str, data: bytes) -> str:
        """Lay out a file for networks that fetch media themselves; return its address."""
        self.shared.media[name] = (mime, data)
        return f"{simulated.url()}/__simulator/media/{name}"

    async def open_endpoint(
        self, simulated: SimulatedNetwork, endpoint: str = "api", port: int = 0
    ) -> None:
        """Listen; a door that was open before takes its old port again."""
        connections = simulated.endpoint_server(endpoint) or Connections(simulated, endpoint)
        port = simulated.ports.get(endpoint, port)
        server = await asyncio.start_server(connections.welcome, HOST, port)  # noqa: TID251 - loopback only
        simulated.ports[endpoint] = server.sockets[0].getsockname()[1]
        self._doors[simulated.name, endpoint] = (server, connections)

    async def close_endpoint(self, simulated: SimulatedNetwork, endpoint: str = "api") -> None:
        """Refuse connections from now on, and cut the standing ones."""
        server, connections = self._doors.pop((simulated.name, endpoint))
        server.close()
        await connections.cut()
        await server.wait_closed()

    async def quiet(self) -> None:
        """Wait until no request is at work any more, also those whose clients have gone."""
        for _, connections in list(self._doors.values()):
            await connections.quiet()

    async def close(self) -> None:
        """Shut every door."""
        by_name = {simulated.name: simulated for simulated in self.simulated_networks}
        for name, endpoint in list(self._doors):
            await self.close_endpoint(by_name[name], endpoint)


async def serve(
    simulated_networks: tuple[SimulatedNetwork, ...],
    port: int = 0,
    *,
    start: datetime | None = None,
    seed: int | str = "cadenza",
) -> Simulator:
    """Open all doors on `port` and the ports after it, or on any where those are taken (0: any).

    The caller closes the simulator.
    """
    shared = SharedState(SimulatorClock(start), Ids(seed), Ledger())
    simulator = Simulator(shared, simulated_networks)
    wanted = itertools.count(port) if port else itertools.repeat(0)
    try:
        for simulated in simulated_networks:
            simulated.join(shared)
            for endpoint in simulated.endpoints:
                await _open_somewhere(simulator, simulated, endpoint, next(wanted))
    except BaseException:
        await simulator.close()
        raise
    return simulator


async def _open_somewhere(
    simulator: Simulator, simulated: SimulatedNetwork, endpoint: str, port: int
) -> None:
    try:
        await simulator.open_endpoint(simulated, endpoint, port)
    except (OSError, OverflowError):  # taken, or not ours to take, or past the last one
        await simulator.open_endpoint(simulated, endpoint)


@asynccontextmanager
async def simulate(
    *simulated_networks: SimulatedNetwork,
    start: datetime | None = None,
    seed: int | str = "cadenza",
) -> AsyncGenerator[Simulator]:
    """Open worlds on free ports for the length of a test."""
    simulator = await serve(simulated_networks, start=start, seed=seed)
    try:
        yield simulator
    finally:
        await simulator.close()
