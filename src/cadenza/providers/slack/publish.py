"""Post to a Slack channel through its hook: one call, no id, no way to look.

The hook's address is the secret and stands for the account's token. Limit: when no answer comes, nobody
can find out by machine; the delivery stays unconfirmed for a person, and is never sent again blindly.
"""

from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.first_comment import left_out
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Json, Request, Timeouts
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Finding,
    Outcome,
    Rejected,
    Sent,
)
from cadenza.providers.reply import HttpSuccess, ask
from cadenza.providers.slack.errors import TABLE
from cadenza.providers.slack.limits import escape, problems


class Slack:
    """The adapter."""

    name = "slack"
    channels = (Channel.SLACK,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.NONE, findable=False, fetches_media=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Slack would refuse."""
        found = problems(message)
        return [*found, *left_out(message, "Slack"), *unseen_link(message, "Slack")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Check that Slack can fetch the pictures; nothing is uploaded."""
        if any(item.url is None for item in call.message.media):
            return Rejected("Slack fetches pictures itself; this one has no address.", "no_url")
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Post; the call that must not happen twice."""
        request = post(call.tokens.access, _body(call.message), repeatable=False)
        got = await ask(call, request, TABLE)
        # Slack answers "ok" and names nothing.
        return Sent(None) if isinstance(got, HttpSuccess) else got

    async def find_out(self, call: AttemptContext) -> Finding:
        """Say that nobody can know."""
        return CannotTell("A Slack hook cannot be asked: look into the channel.")

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Leave it: there is nothing to add."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a hook has no successor."""
        return Disconnected("A hook is not renewed; make a new one in Slack and connect it.")


def post(hook: Secret, body: dict[str, Any], *, repeatable: bool) -> Request:
    """Make a request to a hook; its last part alone is a secret too."""
    url = hook.reveal()
    return Request(
        "POST",
        url,
        body=Json(body),
        timeout=Timeouts(connect=10, read=30, total=30),
        idempotent=repeatable,
        secrets=(hook, Secret(url.rpartition("/")[2])),
    )


def _body(message: Message) -> dict[str, Any]:
    text = escape(message.text)
    if not message.media:
        return {"text": text}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    pictures = [
        {"type": "image", "image_url": item.url, "alt_text": item.alt or item.name or "picture"}
        for item in message.media
    ]
    # The text beside blocks is what notifications show.
    return {"text": text, "blocks": [section, *pictures]}
