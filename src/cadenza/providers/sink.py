"""A network that takes everything and sends nothing: where messages of a test go.

It checks as the real one would, so that a test refuses what would be refused; the call itself never leaves. A test may
ask for faults, so many of a hundred, and name recipients who really get it: these calls are the real one's.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    AttemptContext,
    Capabilities,
    Prepared,
    Problem,
    Provider,
    StillPreparing,
)
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import (
    Absent,
    Finding,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)

OPTION = "test"  # of a message: what its test asks for
FAULTS: Mapping[str, Outcome] = {
    "blocked": RecipientGone("a test: the recipient blocked us", shut_out=True),
    "bounce": RecipientGone("a test: there is no such address", "5.1.1"),
    "broken": Transient("a test: the network stumbled"),
    "flood_wait": TryLater(
        timedelta(seconds=5), WaitScope.ACCOUNT, "a test: the network asks to wait"
    ),
    "refused": Rejected("a test: the network refused the content", "test"),
    "timeout": Unconfirmed("a test: no answer came"),
}


@dataclass(frozen=True, slots=True)
class Sink:
    """Stands before a network while something is tested."""

    real: Provider

    @property
    def name(self) -> str:
        """The real one's: its limits hold."""
        return self.real.name

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The real one's."""
        return self.real.channels

    def capabilities(self, channel: Channel) -> Capabilities:
        """The real one's."""
        return self.real.capabilities(channel)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Ask the real one."""
        return self.real.validate(message, account)

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Upload nothing."""
        return await self.real.prepare(call) if _is_real(call) else Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Take it, and send nothing; or fail in the way that the test asks for."""
        if _is_real(call):
            return await self.real.publish(call)
        fault = _fault(call)
        return fault or Sent(f"test:{call.key}", note="a test: nothing was sent")

    async def find_out(self, call: AttemptContext) -> Finding:
        """Nothing ever arrives."""
        return await self.real.find_out(call) if _is_real(call) else Absent()

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """There is nothing to bring."""
        return await self.real.finish(call, sent) if _is_real(call) else sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Keep the tokens."""
        return await self.real.refresh(call) if _is_real(call) else call.tokens


def _asked(call: AttemptContext) -> dict[str, Any]:
    return call.message.options.get(OPTION) or {}


def _is_real(call: AttemptContext) -> bool:
    """Say whether the recipient is one of those who really get the test."""
    return bool(_asked(call).get("send"))


def _fault(call: AttemptContext) -> Outcome | None:
    """Draw a fault by the attempt: another try may go well."""
    drawn = zlib.crc32(f"{call.key}/{call.now.isoformat()}".encode()) % 100
    for name, percent in sorted(_asked(call).get("faults", {}).items()):
        if drawn < percent:
            return FAULTS[name]
        drawn -= percent
    return None
