"""Serves an application inside a loop that others use too, and ends when it is told.

uvicorn would take the signals and raise them again after it stopped, before the worker beside it has
drained; here the caller owns the signals and sets `stop`. Streams watch the same event, so they end at
once; other requests get a grace. Proxies are trusted only by name. Connections are bounded in `connections.py`.
It also listens on a socket in the data folder, where commands of this machine find it; that opens nothing by
itself, since they sign in like anybody. The newest server has it; where it cannot be made there is none.
"""

import asyncio
import contextlib
import logging
import os
import socket  # noqa: TID251 - for what the one listener already has
from collections.abc import Callable, Generator, Sequence
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from cadenza.api.connections import Limits, OpenConnections, make_protocol, most_at_once
from cadenza.bootstrap import CannotStart

log = logging.getLogger("cadenza.api")
LAST_PORT = 65_535
GRACE = 10  # seconds for requests that are under way
BACKLOG = 256  # connections that the system keeps until they are taken


class CannotListen(CannotStart):
    """The address cannot be served on; the message says what to do."""


class _Server(uvicorn.Server):
    """A server that leaves signals alone, and listens on a socket in the file system too."""

    def __init__(self, config: uvicorn.Config, path: Path | None) -> None:
        super().__init__(config)
        self._path = path
        self._made: int | None = None  # the file's number: another server may have replaced it

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        """Listen on the port, then on the socket."""
        await super().startup(sockets)
        if self._path is not None and self.started:
            try:
                await self._listen_on(self._path)
            except OSError as error:
                message = "commands of this machine do not find this server, and work by themselves"
                log.info(message, extra={"socket": str(self._path), "why": str(error)})
        for server in self.servers:
            _keep_waiting(server)

    async def shutdown(self, sockets: Any = None) -> None:
        """Take the socket away first: who finds none works by themselves."""
        if self._path is not None and self._made is not None:
            _remove(self._path, self._made)
        await super().shutdown(sockets)

    async def _listen_on(self, path: Path) -> None:
        _remove(path)
        make = partial(
            self.config.http_protocol_class,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        listener = await asyncio.get_running_loop().create_unix_server(
            make, os.fspath(path), backlog=self.config.backlog
        )
        self.servers.append(listener)
        self._made = _close_to_others(path)


def _keep_waiting(server: asyncio.Server) -> None:
    """Let more connections wait in the system than asyncio takes in one step: it has one number for both."""
    for listening in server.sockets:
        with socket.fromfd(listening.fileno(), listening.family, listening.type) as same:
            same.listen(BACKLOG)


def _remove(path: Path, number: int | None = None) -> None:
    """Take a socket away; with a number, only if it is still that file."""
    with contextlib.suppress(OSError):
        if number is None or path.stat().st_ino == number:
            path.unlink()


def _close_to_others(path: Path) -> int:
    """Let only its owner connect; return the file's number."""
    path.chmod(0o600)
    return path.stat().st_ino


async def serve(
    app: FastAPI,
    host: str,
    port: int,
    stop: asyncio.Event,
    *,
    proxies: Sequence[str] = (),
    grace: int = GRACE,
    started: Callable[[int], None] | None = None,
    hurry: asyncio.Event | None = None,
    limits: Limits | None = None,
    path: Path | None = None,
) -> None:
    """Serve until `stop` is set, then end streams, let requests finish, and return.

    `app` was made with the same `stop`. `started` is called with the port, which 0 leaves to the system.
    Once `hurry` is set as well, requests get no grace. `proxies` are addresses or networks: what they say of
    a caller's address is believed, and what anybody else says is not. `limits` bound what connections may do.
    `path` is a file to be the socket for commands of this machine.
    """
    _check_proxies(proxies)
    app.router.routes  # noqa: B018 - makes them all, before anybody waits for one
    if not 0 <= port <= LAST_PORT:
        raise CannotListen(f"{port} is no port: name one up to {LAST_PORT}, or 0 for any free one")
    crowd = OpenConnections(limits=limits or Limits(), proxies=proxies)
    server = _Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=make_protocol(crowd),  # pyright: ignore[reportArgumentType] - it is only called
            backlog=most_at_once(),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_graceful_shutdown=grace,
            h11_max_incomplete_event_size=64 * 1024,
        ),
        path,
    )

    async def watch() -> None:
        await stop.wait()
        server.should_exit = True
        if hurry is not None:
            await hurry.wait()
            server.force_exit = True

    async def tell() -> None:
        while not server.started:
            await app.state.runtime.clock.sleep(0.01)
        if started is not None:
            started(server.servers[0].sockets[0].getsockname()[1])

    watching, telling = asyncio.create_task(watch()), asyncio.create_task(tell())
    try:
        await server.serve()
    except SystemExit as error:  # uvicorn's word for an address that is taken
        raise CannotListen(
            f"{host}:{port} cannot be served on: stop what listens there, or name another port"
            " (--port, listen.port in the settings, or PORT= for make up)"
        ) from error
    finally:
        watching.cancel()
        telling.cancel()
        await asyncio.gather(watching, telling, return_exceptions=True)


def _check_proxies(proxies: Sequence[str]) -> None:
    """Refuse what is no address: a name could be anybody's, and `*` would be everybody."""
    for each in proxies:
        try:
            ip_network(each)
        except ValueError as error:
            raise CannotListen(
                f"listen.proxies: {each!r} is neither an address nor a network such as 10.0.0.0/8"
            ) from error
