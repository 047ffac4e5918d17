"""Open the doors: `rehearse(...)` for tests, `serve(...)` for people.

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

from cadenza.demo.rehearsal.clock import RehearsalClock
from cadenza.demo.rehearsal.connection import Connections
from cadenza.demo.rehearsal.ids import Ids
from cadenza.demo.rehearsal.ledger import Entry, Ledger
from cadenza.demo.rehearsal.world import Keeper, Stage, World

HOST = "127.0.0.1"


@dataclass(slots=True)
class Rehearsal:
    """Open worlds on one stage."""

    stage: Stage
    worlds: tuple[World, ...]
    _doors: dict[tuple[str, str], tuple[asyncio.Server, Keeper]] = field(
        default_factory=dict[tuple[str, str], tuple[asyncio.Server, Keeper]]
    )

    @property
    def clock(self) -> RehearsalClock:
        return self.stage.clock

    @property
    def ledger(self) -> Ledger:
        return self.stage.ledger

    def visible(self, world: World, account: str | None = None) -> list[Entry]:
        """List what people see of an account."""
        return self.stage.ledger.of(world.name, account)

    def put_media(self, world: World, name: str, mime: str, data: bytes) -> str:
        """Lay out a file for networks that fetch media themselves; return its address."""
        self.stage.media[name] = (mime, data)
        return f"{world.url()}/__rehearsal/media/{name}"

    async def open_door(self, world: World, door: str = "api", port: int = 0) -> None:
        """Listen; a door that was open before takes its old port again."""
        connections = world.keeper(door) or Connections(world, door)
        port = world.ports.get(door, port)
        server = await asyncio.start_server(connections.welcome, HOST, port)  # noqa: TID251 - loopback only
        world.ports[door] = server.sockets[0].getsockname()[1]
        self._doors[world.name, door] = (server, connections)

    async def shut_door(self, world: World, door: str = "api") -> None:
        """Refuse connections from now on, and cut the standing ones."""
        server, connections = self._doors.pop((world.name, door))
        server.close()
        await connections.cut()
        await server.wait_closed()

    async def quiet(self) -> None:
        """Wait until no request is at work any more, also those whose clients have gone."""
        for _, connections in list(self._doors.values()):
            await connections.quiet()

    async def close(self) -> None:
        """Shut every door."""
        by_name = {world.name: world for world in self.worlds}
        for name, door in list(self._doors):
            await self.shut_door(by_name[name], door)


async def serve(
    worlds: tuple[World, ...],
    port: int = 0,
    *,
    start: datetime | None = None,
    seed: int | str = "cadenza",
) -> Rehearsal:
    """Open all doors on `port` and the ports after it, or on any where those are taken (0: any).

    The caller closes the rehearsal.
    """
    stage = Stage(RehearsalClock(start), Ids(seed), Ledger())
    rehearsal = Rehearsal(stage, worlds)
    wanted = itertools.count(port) if port else itertools.repeat(0)
    try:
        for world in worlds:
            world.join(stage)
            for door in world.doors:
                await _open_somewhere(rehearsal, world, door, next(wanted))
    except BaseException:
        await rehearsal.close()
        raise
    return rehearsal


async def _open_somewhere(rehearsal: Rehearsal, world: World, door: str, port: int) -> None:
    try:
        await rehearsal.open_door(world, door, port)
    except (OSError, OverflowError):  # taken, or not ours to take, or past the last one
        await rehearsal.open_door(world, door)


@asynccontextmanager
async def rehearse(
    *worlds: World, start: datetime | None = None, seed: int | str = "cadenza"
) -> AsyncGenerator[Rehearsal]:
    """Open worlds on free ports for the length of a test."""
    rehearsal = await serve(worlds, start=start, seed=seed)
    try:
        yield rehearsal
    finally:
        await rehearsal.close()
