"""Around every request: an id, a line in the log, the right host, and headers that browsers obey.

It is plain ASGI and the outermost layer: whatever goes wrong inside is answered here with a problem
that tells nothing but the request's id, and the log tells the rest.
"""

import json
import logging
import re
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cadenza.api.problems import MEDIA, TYPE
from cadenza.api.route_lookup import INSIDE
from cadenza.bootstrap.model import Runtime
from cadenza.core.ids import SystemIds

log = logging.getLogger("cadenza.api")

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
GONE = 499  # in the log alone: the client went away before its request was complete
HSTS = "max-age=31536000; includeSubDomains"
_REQUEST_ID = re.compile(r"^[A-Za-z0-9_-]{8,64}$")
_BAD_ADDRESS = re.compile(rb"%00|\x00", re.IGNORECASE)
_HIDDEN_SLASH = re.compile(
    rb"%2f|%5c|\\", re.IGNORECASE
)  # servers decode it: an id would become a path
OPEN = frozenset({"/healthz", "/readyz"})  # probes come by address, not by name


class RequestGuard:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, runtime: Runtime, hosts: Sequence[str] = ()) -> None:
        self._app = app
        self._runtime = runtime
        self._ids = SystemIds()
        url = runtime.settings.public_url
        named = urlsplit(url).netloc.lower()
        own = {named, *(host.lower() for host in hosts)}
        self._hosts = frozenset(own) if named else None
        self._listens = runtime.settings.listen.host.lower()
        self._https = url.startswith("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.match(given) else self._ids.new()
        scope["request_id"] = request_id
        began = self._runtime.clock.monotonic()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._dress(MutableHeaders(scope=message), scope, request_id)
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await _answer(sending, request_id, *refusal)
            else:
                await self._app(scope, receive, sending)
        except ClientDisconnect:
            status = status or GONE  # nobody is left to be told
        except Exception:
            log.exception("a request broke", extra={"request_id": request_id})
            if status:
                raise  # half an answer is out: the connection must end, not the story
            said = "Something broke on our side; the log knows it by this request's id."
            await _answer(sending, request_id, 500, "our_fault", said)
        finally:
            self._tell(scope, request_id, status, self._runtime.clock.monotonic() - began)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        raw = scope.get("raw_path") or scope["path"].encode()
        if _BAD_ADDRESS.search(raw) or _BAD_ADDRESS.search(scope["query_string"]):
            return 400, "bad_address", "The address holds characters that cannot be kept."
        if INSIDE not in scope and _HIDDEN_SLASH.search(raw):
            return 400, "bad_address", "The address holds an encoded slash: no id has one."
        if scope["path"] not in OPEN and not self._is_ours(headers.get("host", "").lower()):
            message = "This server is not reached by that name: an operator sets public_url to its address."
            return 421, "wrong_host", message
        return None

    def _is_ours(self, host: str) -> bool:
        """Say whether a request came by a name of ours.

        Without `public_url` that is any address, and any name that no stranger can have: another site's name that
        leads here would make a browser show that site what is ours (DNS rebinding).
        """
        if self._hosts is not None:
            return host in self._hosts
        name = _name(host)
        return (
            "." not in name or name == self._listens or name.endswith(".localhost") or _is_ip(name)
        )

    def _dress(self, headers: MutableHeaders, scope: Scope, request_id: str) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        headers["x-request-id"] = request_id
        if self._https:
            headers.setdefault("strict-transport-security", HSTS)
        if scope["path"].startswith("/api/") and "cache-control" not in headers:
            headers["cache-control"] = "no-store"

    def _tell(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None) or _printable(scope["path"][:200])
        detail = {
            "request_id": request_id,
            "method": scope["method"],
            "route": route,  # the pattern: ids and what people typed stay out of the log's key
            "status": status,
            "seconds": round(seconds, 4),
        }
        log.info("a request was answered", extra=detail)


def _name(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)


async def _answer(send: Send, request_id: str, status: int, code: str, message: str) -> None:
    body = {
        "type": TYPE + code,
        "title": "Refused" if status < 500 else "Our own fault",
        "status": status,
        "detail": message,
        "instance": request_id,
        "errors": [],
    }
    raw = json.dumps(body).encode()
    headers = [
        (b"content-type", MEDIA.encode()),
        (b"content-length", str(len(raw)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
