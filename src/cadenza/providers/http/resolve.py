"""Turn a name into addresses, or into the texts that its owner published: the product's only look-ups, behind ports.

`SystemResolver` asks the machine (hosts file, DNS) in threads of its own: anybody may type a name whose
server never answers, and such look-ups must not stand in the way of others, nor of passwords and the
database, which use the event loop's few. Nothing is cached here; what comes back is used at once, for one
connection. Limit: a look-up that hangs cannot be stopped, only left behind; its thread ends with the system
resolver's own time-out, or with the process. While very many hang, further names fail at once.
"""

import asyncio
import contextlib
import socket
import threading
from ipaddress import ip_address
from typing import Any, Protocol

from cadenza.engine.threads import Threads

IDLE = 8  # threads that are kept for the next look-ups
MOST = 256  # look-ups under way, those left behind included
TEXTS_AT_ONCE = 16
TEXT_SECONDS = 5.0


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return all addresses, in the order to try; raise OSError if there is none."""
        ...


class TextResolver(Protocol):
    """Finds what the owner of a name published as text (TXT records)."""

    async def texts(self, name: str) -> list[str]:
        """Return all texts, none where there are none; raise OSError if that cannot be found out."""
        ...


class SystemTextResolver:
    """Asks the machine's name servers, or the one that is named; few at a time, each for a few seconds."""

    def __init__(self, nameserver: str = "") -> None:
        self._nameserver = nameserver
        self._turns = asyncio.Semaphore(TEXTS_AT_ONCE)

    async def texts(self, name: str) -> list[str]:
        """Look a name up."""
        from dns import asyncresolver, exception, resolver

        asks = asyncresolver.Resolver(configure=not self._nameserver)
        if self._nameserver:
            host, _, port = self._nameserver.rpartition(":")
            asks.nameservers, asks.port = [host], int(port)
        try:
            async with self._turns:
                found = await asks.resolve(name, "TXT", lifetime=TEXT_SECONDS, search=False)
        except (resolver.NXDOMAIN, resolver.NoAnswer):
            return []
        except (exception.DNSException, ValueError) as error:
            raise OSError(f"{name} could not be looked up") from error
        return [b"".join(each.strings).decode("utf-8", "replace") for each in found]


class SystemResolver:
    """The machine's resolver."""

    def __init__(self) -> None:
        self._threads = Threads(IDLE)
        self._room = threading.BoundedSemaphore(MOST)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Ask the system; each address once. What is an address already is not looked up."""
        with contextlib.suppress(ValueError):
            return [str(ip_address(host))]
        if not self._room.acquire(blocking=False):
            raise OSError(f"{MOST} look-ups hang already")
        found = await self._threads.call(self._look_up, {"host": host, "port": port})
        return list(dict.fromkeys(str(each[4][0]) for each in found))

    def close(self) -> None:
        """Let idle threads end."""
        self._threads.close()

    def _look_up(self, host: str, port: int) -> list[Any]:
        try:
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        finally:
            self._room.release()
