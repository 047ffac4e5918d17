"""A receiver of signed webhooks, written from the specification: checks, forgets nothing, reports repeats.

Signature, time (five minutes) and type are checked before anything is believed; a message that was seen
under its id is answered well and not done again. It can close (410), move away (302) and slow down, with
`Retry-After` in seconds or as a date.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, ClassVar

from cadenza.demo.simulator.counters import FixedWindows
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, say

TOLERANCE = timedelta(minutes=5)


@dataclass(slots=True)
class Endpoint:
    """One address; `secrets` are all that it accepts."""

    name: str
    secrets: tuple[str, ...]
    closed: bool = False
    moved: bool = False
    seen: dict[str, bytes] = field(default_factory=dict[str, bytes])
    repeats: int = 0
    changed: int = 0  # repeats that said something else
    bad_signatures: int = 0


class SimulatedWebhook(SimulatedNetwork):
    """Somebody's receiver."""

    name: ClassVar[str] = "webhook"

    def __init__(self) -> None:
        super().__init__()
        self.receivers: dict[str, Endpoint] = {}
        self.rate = FixedWindows(1000, timedelta(minutes=1))
        self.says_dates = False

    def add_endpoint(self, name: str, secret: str) -> str:
        """Open an address; return it."""
        self.receivers[name] = Endpoint(name, (secret,))
        return f"{self.url()}/hooks/{name}"

    def account_of(self, call: Received) -> str | None:
        return call.args.get("name")

    def expire_token(self, call: Received) -> None:
        if (endpoint := self.receivers.get(call.args.get("name", ""))) is not None:
            endpoint.closed = True

    @route("POST", "/hooks/{name}")
    async def receive(self, call: Received) -> Answer:
        endpoint = self.receivers.get(call.args["name"])
        if endpoint is None:
            return self.not_found(call)
        if endpoint.closed:
            return say(410, {"error": "gone"})
        if endpoint.moved:
            return Answer(302, headers=(("location", f"{self.url()}/hooks/elsewhere"),))
        hit = self.rate.hit(endpoint.name, self.now)
        if not hit.allowed:
            left = str(int((hit.resets_at - self.now).total_seconds()))
            wait = format_datetime(hit.resets_at, usegmt=True) if self.says_dates else left
            return Answer(429, b"slow down", (("retry-after", wait),))
        if not self._is_signed(endpoint, call):
            endpoint.bad_signatures += 1
            return say(401, {"error": "signature"})
        wanted = call.json()
        if not _is_well_formed(wanted):
            return say(400, {"error": "body"})
        message = call.headers["webhook-id"]
        if message in endpoint.seen:
            endpoint.repeats += 1
            endpoint.changed += endpoint.seen[message] != call.body
            return say(200, {"repeat": True})
        endpoint.seen[message] = call.body
        self.show(
            Entry(
                simulated=self.name,
                account=endpoint.name,
                remote_id=message,
                text=wanted["data"].get("text", ""),
                at=self.now,
                to=wanted["data"].get("after") or "",
                detail=wanted,
            )
        )
        return say(200, {"ok": True})

    def _is_signed(self, endpoint: Endpoint, call: Received) -> bool:
        message = call.headers.get("webhook-id", "")
        stamp = call.headers.get("webhook-timestamp", "")
        given = call.headers.get("webhook-signature", "").split(" ")
        if not message or "." in message or not stamp.isdigit():
            return False
        if abs(self.now.timestamp() - int(stamp)) > TOLERANCE.total_seconds():
            return False
        signed = f"{message}.{stamp}.".encode() + call.body
        for secret in endpoint.secrets:
            key = base64.b64decode(secret.removeprefix("whsec_"))
            mark = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
            if any(hmac.compare_digest(f"v1,{mark}", each) for each in given):
                return True
        return False


def _is_well_formed(wanted: dict[str, Any]) -> bool:
    return set(wanted) == {"type", "timestamp", "data"} and isinstance(wanted["data"], dict)
