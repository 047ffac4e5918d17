"""Send by Unipile: a mail, a message, an invitation or an InMail; one request each, no key, no way back.

`find_out` reads Unipile's lists, which prove presence only. An unconfirmed send that the lists do not settle is a
person's. Accounts sign in at Unipile; `refresh` asks whether that still stands.
"""

from dataclasses import replace
from urllib.parse import quote

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    PACE,
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.first_comment import left_out
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import Disconnected, Finding, Outcome, Rejected, Sent, Transient
from cadenza.providers.reply import HttpSuccess, ask, sent
from cadenza.providers.unipile.errors import TABLE
from cadenza.providers.unipile.find import look
from cadenza.providers.unipile.limits import NAMES, problems
from cadenza.providers.unipile.request import read, write

# Where the id stands in each answer; any of them may be missing or null.
IDS = ("message_id", "invitation_id", "tracking_id")
WORKING = ("OK", "CONNECTING")


class Unipile:
    """The adapter."""

    name = "unipile"
    channels = tuple(NAMES)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on; a list can show that it is there, seldom that it is not."""
        return Capabilities(
            idempotency=Idempotency.NONE, findable=True, needs_recipient=True, pace=PACE
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that would be refused."""
        found = problems(message, account)
        return [*found, *left_out(message, "Unipile"), *unseen_link(message, "Unipile")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Do nothing: there are no drafts to lay out."""
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Send it; the call that must not happen twice."""
        if call.message.recipient is None:
            return Rejected("It needs a recipient.", "no_recipient")
        got = await ask(call, await write(call), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        return sent(got, next((found for name in IDS if (found := got.text(name))), None))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Look into Unipile's lists."""
        return await look(call)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Add nothing: what was sent has no address of its own."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Ask whether the account is still signed in at Unipile; the key itself has no successor."""
        got = await ask(call, read(call, f"/accounts/{quote(call.account.remote_id)}"), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        sources = got.at("sources")
        states = (
            [each.get("status") for each in sources if isinstance(each, dict)] if sources else []
        )
        if states and all(state in WORKING for state in states):
            return replace(call.tokens, refreshed_at=call.now)
        if "ERROR" in states or not states:
            return Transient("Unipile has trouble with the account; it may pass.")
        message = "The account is signed out at Unipile; connect it again there."
        return Disconnected(message, "/".join(str(state) for state in states))
