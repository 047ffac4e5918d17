"""A network that takes everything and sends nothing: where messages of a test go.

It checks as the real one would, so that a test refuses what would be refused; the call itself never leaves.
"""

from dataclasses import dataclass

from cadenza.core.channels import Channel
from cadenza.providers.base import AttemptContext, Capabilities, Prepared, Problem, Provider
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import Absent, Sent


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

    async def prepare(self, call: AttemptContext) -> Prepared:
        """Upload nothing."""
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Sent:
        """Take it, and send nothing."""
        return Sent(f"test:{call.key}", note="a test: nothing was sent")

    async def find_out(self, call: AttemptContext) -> Absent:
        """Nothing ever arrives."""
        return Absent()

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """There is nothing to bring."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens:
        """Keep the tokens."""
        return call.tokens
