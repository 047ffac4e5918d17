"""Fetch media by its address, really, as the networks that take addresses do, and tell what happened at one.

No redirects, a size limit, a type that must be allowed and must be true. The address is vouched for
whatever it is, loopback too, though a live network never could: a simulation's media lie on this machine.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from cadenza.core.clock import SystemClock
from cadenza.demo.simulator.sniff import sniff
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Request, Timeouts


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was really there."""

    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class NotFetched:
    """Why a file could not be had; a world translates it into its own code."""

    why: str


async def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Tell something at an address, as webhooks do; return the status, or 0 where nobody answered."""
    place = urlsplit(url)
    policy = Policy(allow=(HostRule(place.hostname or "", place.port),))
    async with OutboundClient(policy, clock=SystemClock()) as client:
        reply = await client.send(
            Request("POST", url, headers, body, timeout=Timeouts(connect=2, read=10, total=20))
        )
    return reply.status if isinstance(reply, Reply) else 0


async def fetch(url: str, *, types: tuple[str, ...], limit: int) -> Fetched | NotFetched:
    """Get a file, or say why the network would not have it."""
    try:
        place = urlsplit(url)
        policy = Policy(allow=(HostRule(place.hostname or "", place.port),))
    except ValueError:
        return NotFetched("not an address")
    async with OutboundClient(policy, clock=SystemClock()) as client:
        reply = await client.send(
            Request("GET", url, max_bytes=limit, timeout=Timeouts(connect=2, read=5, total=10))
        )
    if not isinstance(reply, Reply):
        return NotFetched(reply.reason.value)
    if reply.status != 200:
        return NotFetched(f"status {reply.status}")
    declared = (reply.header("content-type") or "").partition(";")[0]
    found = sniff(reply.body)
    if found is None or found.mime not in types or declared != found.mime:
        return NotFetched(f"type {declared or 'unknown'}")
    return Fetched(found.mime, reply.body)
