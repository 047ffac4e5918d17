"""Send requests to the world, guarded, and say truly whether they may have arrived.

A request is read strictly, sent through the guarded door, followed where allowed, and read within
its bounds and its deadline. A call that must not happen twice has its connection to itself: no
neighbours on HTTP/2 whose fault would leave its outcome unknown. A kept one may carry it if it was used
moments ago and is still open (`Policy.reuse`); if it breaks once the request was begun, the request may
have arrived, and is not sent again. The environment's proxies, cookies and netrc are not read. Limit: when the calling task is
cancelled there is no outcome; the caller's own mark of intent must stand.
"""

import asyncio
import logging
import ssl
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Self

import httpcore2
import httpx2

from cadenza.core.clock import Clock
from cadenza.providers.http.connect import (
    ConnectionRefused,
    GuardedNetwork,
    NameFailed,
    RawConnection,
)
from cadenza.providers.http.encode import OutboundRequest, pack, secrets_of
from cadenza.providers.http.exchange import Exchange, ExchangeLog
from cadenza.providers.http.idle import IdleConnections
from cadenza.providers.http.outcome import (
    MayHaveArrived,
    NotSent,
    Outcome,
    Reason,
    Reply,
    Stop,
)
from cadenza.providers.http.parse_target import BadAddress, parse_host, parse_target
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.read import read_body
from cadenza.providers.http.record import record
from cadenza.providers.http.redact import redact
from cadenza.providers.http.redirects import follow, redirects
from cadenza.providers.http.request import Request, Stream, Timeouts
from cadenza.providers.http.resolve import (
    Resolver,
    SystemResolver,
    SystemTextResolver,
    TextResolver,
)

log = logging.getLogger("cadenza.http")
# At DEBUG these write headers and paths, tokens and all, into the log.
KEPT = 20  # idle connections of a pool
TALKATIVE = ("httpcore2", "httpx2", "hpack", "h2")


@dataclass(slots=True)
class Wire:
    """What is known of a request on its way."""

    left: bool = False  # its first byte may be out
    fresh: bool = False  # on a connection that was made for it
    status: int | None = None  # of the answer that began to come

    async def note(self, event: str, info: dict[str, Any]) -> None:
        """Take a note from the pool, which calls this at each step."""
        step = event.partition(".")[2]
        if step == "connect_tcp.started":
            self.fresh = True
        elif step == "send_request_headers.started":
            self.left = True


@dataclass(frozen=True, slots=True)
class _Route:
    """The way out for one use: whom it may reach, and its connections."""

    policy: Policy
    network: GuardedNetwork
    shared: httpcore2.AsyncConnectionPool
    alone: httpcore2.AsyncConnectionPool
    fresh: httpcore2.AsyncConnectionPool  # keeps none
    idle: IdleConnections  # of other protocols


def _open_route(policy: Policy, network: GuardedNetwork, max_connections: int) -> _Route:
    def pool(*, kept: int, seconds: float, http2: bool) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=_tls(policy.ca_file, http2=http2),
            max_connections=max_connections,
            max_keepalive_connections=kept,
            keepalive_expiry=seconds,
            http2=http2,
            network_backend=network,
        )

    shared = pool(kept=KEPT, seconds=30, http2=True)
    alone = pool(kept=KEPT if policy.reuse else 0, seconds=policy.reuse, http2=False)
    fresh = pool(kept=0, seconds=0, http2=False)
    return _Route(policy, network, shared, alone, fresh, IdleConnections(policy.reuse))


class OutboundClient:
    """The product's only HTTP client. One an instance; close it at the end."""

    def __init__(
        self,
        policy: Policy,
        *,
        clock: Clock,
        resolver: Resolver | None = None,
        network: httpcore2.AsyncNetworkBackend | None = None,
        max_connections: int = 100,
    ) -> None:
        for name in TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self.clock = clock
        self.notes: ExchangeLog | None = None  # of the run that this client is lent to
        net = network or httpcore2.AnyIOBackend()
        self._resolver = SystemResolver()
        self.texts: TextResolver = SystemTextResolver(policy.nameserver)

        def open_route(use: str | None) -> _Route:
            own = policy.for_use(use)
            network = GuardedNetwork(own, resolver or self._resolver, net)  # pyright: ignore[reportArgumentType]
            return _open_route(own, network, max_connections)

        self._open_route = open_route
        self._routes: dict[str | None, _Route] = {}
        self._route = self._routes[None] = open_route(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        for route in self._routes.values():
            await route.idle.aclose()
            await route.shared.aclose()
            await route.alone.aclose()
            await route.fresh.aclose()
        self._resolver.close()

    def for_use(self, use: str | None) -> Self:
        """Return the same client for a use that settings vouch for hosts of; None: for what people type.

        Connections are not shared between uses: one that was opened for its owner's use was judged by it.
        """
        if use not in self._routes:
            route = self._open_route(use)
            usual = self._routes[None]
            self._routes[use] = usual if route.policy == usual.policy else route
        lent = object.__new__(type(self))
        lent.__dict__ = {**self.__dict__, "_route": self._routes[use]}
        return lent

    @property
    def idle(self) -> IdleConnections:
        """Connections of other protocols that wait to be used again, for this use alone."""
        return self._route.idle

    def recording_to(self, notes: ExchangeLog) -> Self:
        """Return the same client, same connections, for a run that keeps what was said."""
        lent = object.__new__(type(self))
        lent.__dict__ = {**self.__dict__, "notes": notes}
        return lent

    def note(self, exchange: Exchange) -> None:
        """Keep what an adapter of another protocol wrote down, if the run does."""
        if self.notes is not None:
            self.notes.add(exchange)

    async def send(self, request: Request) -> Outcome:
        """Send it and return what came of it; never raises for what the network does."""
        if self.notes is None:
            return await self._send(request)
        began_at, started = self.clock.now(), self.clock.monotonic()
        came: Outcome | None = None
        try:
            return (came := await self._send(request))
        finally:  # also when the run stops waiting: that is what a person asks about later
            took = self.clock.monotonic() - started
            secrets = self.notes.secrets
            self.note(record(request, came, began_at=began_at, seconds=took, secrets=secrets))

    async def _send(self, request: Request) -> Outcome:
        wire = Wire()
        started = self.clock.monotonic()
        try:
            async with asyncio.timeout(request.timeout.total):
                return await self._walk(request, wire, started)
        except BadAddress as wrong:
            return NotSent(Reason.BAD_ADDRESS, message=f"{wrong}"[:1].upper() + f"{wrong}."[1:])
        except TimeoutError:
            stop = Stop(Reason.DEADLINE, f"not done in {request.timeout.total} s")
        except Stop as early:
            stop = early
        except Exception as failure:  # noqa: BLE001 - whatever broke, say whether it left
            stop = _stop(failure)
        return self._end(request, wire, stop)

    async def connect(
        self, host: str, port: int, *, ports: frozenset[int], timeouts: Timeouts
    ) -> RawConnection | NotSent:
        """Open a guarded connection for another protocol; `ports` are those it may use."""
        try:
            name = parse_host(host, port, self._route.policy, ports)
            sock = await self._route.network.open_socket(name, port, timeouts.connect)
        except BadAddress as wrong:
            return NotSent(Reason.BAD_ADDRESS, message=f"{wrong}"[:1].upper() + f"{wrong}."[1:])
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failure:
            stop = _stop(failure)
            detail = {"host": host, "reason": stop.reason.value, "detail": stop.detail}
            log.warning("no connection", extra=detail)
            return NotSent(stop.reason)
        vouched = bool(self._route.policy.rules(name, port))
        return RawConnection(
            sock, name, _tls(self._route.policy.ca_file, http2=None), vouched, timeouts
        )

    async def _walk(self, request: Request, wire: Wire, started: float) -> Reply:
        call = pack(request, parse_target(request.url, self._route.policy))
        self._not_in_the_clear(call)
        for _ in range(request.redirects + 1):
            status, headers, body = await self._call(request, call, wire)
            location = headers.get("location")
            if not request.redirects or not redirects(call.method, status, location):
                elapsed = self.clock.monotonic() - started
                url = redact(str(call.target.url), call.secrets)
                return Reply(status, headers, body, url, elapsed)
            wire.status = None  # that answer is complete; the next has not begun
            call = follow(call, headers["location"], self._route.policy)
        raise Stop(Reason.REDIRECTS, f"more than {request.redirects} redirects")

    def _not_in_the_clear(self, call: OutboundRequest) -> None:
        target = call.target
        if target.scheme == "http" and call.secrets:
            if self._route.policy.rules(target.host, target.port):
                return
            raise BadAddress("a secret is not sent over plain http; use https")

    async def _call(
        self, request: Request, call: OutboundRequest, wire: Wire
    ) -> tuple[int, dict[str, str], bytes]:
        """Make one hop; once more if a kept connection turned out to be dead and no harm is done."""
        pool = self._route.shared if request.repeatable else self._route.alone
        wire.fresh, wire.status = False, None
        try:
            return await _exchange(pool, request, call, wire)
        except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError):
            stale = wire.left and not wire.fresh and wire.status is None
            if not (stale and request.repeatable) or isinstance(call.body, Stream):
                raise
        return await _exchange(self._route.fresh, request, call, wire)

    def _end(self, request: Request, wire: Wire, stop: Stop) -> Outcome:
        log.warning(
            "request did not come to an answer",
            extra={
                "request": redact(repr(request), secrets_of(request)),
                "reason": stop.reason.value,
                "detail": redact(stop.detail, secrets_of(request)),
                "may_have_arrived": wire.left,
            },
        )
        return MayHaveArrived(stop.reason, wire.status) if wire.left else NotSent(stop.reason)


async def _exchange(
    pool: httpcore2.AsyncConnectionPool, request: Request, call: OutboundRequest, wire: Wire
) -> tuple[int, dict[str, str], bytes]:
    encoded = call.encode()
    url = encoded.url
    async with pool.stream(
        encoded.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=encoded.headers.raw,
        # With no body, no stream either: the pool would announce one, in chunks.
        content=None if call.body is None else encoded.stream,  # pyright: ignore[reportArgumentType]
        extensions={"timeout": _timeouts(request.timeout), "trace": wire.note},
    ) as response:
        headers = _headers(response.headers)
        status = wire.status = response.status
        moving = redirects(call.method, status, headers.get("location")) and request.redirects
        if moving and headers.get("content-length") != "0":
            return status, headers, b""  # unread: costs the connection, and no one's time
        _expected(request, status, headers)  # before a byte of the body is fetched
        body = await read_body(
            response.aiter_stream(),
            encoding=headers.get("content-encoding", ""),
            length=headers.get("content-length") if call.method != "HEAD" else None,
            limit=request.max_bytes,
        )
        return status, headers, body


def _expected(request: Request, status: int, headers: dict[str, str]) -> None:
    if not request.expect or not 200 <= status < 300:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    for wanted in request.expect:
        if kind == wanted or (wanted.endswith("/*") and kind.startswith(wanted[:-1])):
            return
    raise Stop(Reason.WRONG_TYPE, f"{kind!r} is none of {', '.join(request.expect)}")


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("ascii", "replace").lower()
        text = value.decode("utf-8", "replace")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _timeouts(given: Timeouts) -> dict[str, float]:
    return {
        "pool": given.connect,
        "connect": given.connect,
        "read": given.read,
        "write": given.read,
    }


_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (ConnectionRefused, Reason.REFUSED),
    (NameFailed, Reason.DNS),
    (httpcore2.ConnectError, Reason.CONNECT),
    (httpcore2.ConnectTimeout, Reason.CONNECT),
    (httpcore2.PoolTimeout, Reason.POOL),
    (httpcore2.WriteTimeout, Reason.SENDING),
    (httpcore2.WriteError, Reason.SENDING),
    (httpcore2.ReadTimeout, Reason.READING),
    (httpcore2.ReadError, Reason.BROKEN),
    (httpcore2.RemoteProtocolError, Reason.BROKEN),
    (httpcore2.LocalProtocolError, Reason.BAD_REQUEST),
)


def _stop(failure: Exception) -> Stop:
    detail = f"{type(failure).__name__}: {failure}"
    if isinstance(failure, httpcore2.ConnectError) and isinstance(
        next(iter(failure.args), None), ssl.SSLError
    ):
        return Stop(Reason.TLS, detail)
    for kind, reason in _REASONS:
        if isinstance(failure, kind):
            return Stop(reason, detail)
    return Stop(Reason.OTHER, detail)


@cache
def _tls(ca_file: str | None, *, http2: bool | None) -> ssl.SSLContext:
    """Return a context per kind of pool, which writes its protocols into it; loading one takes 50 ms.

    None is for other protocols than HTTP: nothing is written into theirs.
    """
    context = httpx2.create_ssl_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context
