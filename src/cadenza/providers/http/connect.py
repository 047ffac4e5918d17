"""The one door out: resolve, judge every address, connect to a judged one. In one function.

It is the connection pool's network backend, so every connection passes here, redirects too, and
nothing looks the name up a second time: there is no gap in which a name could be rebound. TLS comes
afterwards, on this stream, for the name that was asked for. A name with one bad address is refused
whole. Unix sockets are not offered. Protocols that are not HTTP get a bare socket by the same way.
"""

import asyncio
import socket
import ssl
import typing
from collections.abc import Iterable
from dataclasses import dataclass

import httpcore2

from cadenza.providers.http.judge import judge
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.request import Timeouts
from cadenza.providers.http.resolve import Resolver

# A name with more addresses than this is not a web host but somebody's joke.
MOST_ADDRESSES = 64


class ConnectionRefused(httpcore2.ConnectError):
    """The policy forbids this address; the text is for the operator's log only."""


class NameFailed(httpcore2.ConnectError):
    """The name has no address, or the look-up failed."""


@dataclass(frozen=True, slots=True)
class RawConnection:
    """A connected socket for a protocol that is not HTTP; who takes it must close it."""

    sock: socket.socket
    host: str  # as asked for: the name that TLS must prove
    tls: ssl.SSLContext
    vouched: bool  # the owner named this host: it may be spoken to in the clear
    timeouts: Timeouts


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects for the pool, to judged addresses only."""

    def __init__(
        self, policy: Policy, resolver: Resolver, network: httpcore2.AsyncNetworkBackend
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._network = network

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve, judge, connect; `timeout` holds for all of it."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._judged(host, port)
                return await self._first(addresses, port, timeout)
        except TimeoutError:
            raise httpcore2.ConnectTimeout("no connection in time") from None

    async def open_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Resolve, judge, connect, and hand out the bare socket."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._judged(host, port)
                return await _plain(addresses, port, timeout / len(addresses))
        except TimeoutError:
            raise httpcore2.ConnectTimeout("no connection in time") from None

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: files of this machine are nobody's address."""
        raise ConnectionRefused("unix sockets are not called")

    async def sleep(self, seconds: float) -> typing.NoReturn:
        """Refuse: only the pool's own retries wait here, and they are off."""
        raise ConnectionRefused("the pool does not retry")

    async def _judged(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolver.resolve(host, port)
        except (OSError, UnicodeError) as failure:
            raise NameFailed(f"{host}: {failure}") from failure
        if not addresses or len(addresses) > MOST_ADDRESSES:
            raise NameFailed(f"{host}: {len(addresses)} addresses")
        for address in addresses:
            against = self._policy.against(judge(address), host, port)
            if against is not None:
                raise ConnectionRefused(f"{host} leads to {address}: {against}")
        return addresses

    async def _first(
        self, addresses: list[str], port: int, timeout: float | None
    ) -> httpcore2.AsyncNetworkStream:
        """Try one address after the other; each gets an equal share of the time."""
        share = None if timeout is None else timeout / len(addresses)
        last: Exception = httpcore2.ConnectError("no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout=share)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failure:
                last = failure
        raise last


async def _plain(addresses: list[str], port: int, share: float) -> socket.socket:
    """Try one address after the other, without the pool's stream around it."""
    last: Exception = httpcore2.ConnectError("no address")
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(share):
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
            return sock
        except (OSError, TimeoutError) as failure:
            sock.close()
            last = httpcore2.ConnectError(f"{address}: {failure}")
        except BaseException:
            sock.close()
            raise
    raise last
