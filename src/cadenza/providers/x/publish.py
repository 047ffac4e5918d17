"""Publish on X: upload media, post each part once, look into the account's list after silence.

There is no idempotency key. X refuses a text that the account has posted lately; a twin of the last
minutes is taken for this very post, an older one rejects the text. Limit: looking costs credits, and X
may be slow to show a post.
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
from cadenza.providers.first_comment import AS_PART, left_out
from cadenza.providers.http.request import Json
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import Finding, Outcome, Rejected, Sent, Transient
from cadenza.providers.reply import HttpSuccess, ask, sent
from cadenza.providers.x.auth import renew
from cadenza.providers.x.errors import DUPLICATE, TABLE
from cadenza.providers.x.find import earlier_duplicate, look, post_url, recent_duplicate
from cadenza.providers.x.limits import problems
from cadenza.providers.x.requests import write
from cadenza.providers.x.upload import upload_media


class X:
    """The adapter."""

    name = "x"
    channels = (Channel.X,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.NONE, findable=True, threads=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that X would refuse."""
        found = problems(message, account)
        return [*found, *left_out(message, "X", AS_PART), *unseen_link(message, "X")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Take the next step with the next file."""
        return await upload_media(call)

    async def publish(self, call: AttemptContext) -> Outcome:
        """Post one part; the call that must not happen twice."""
        got = await ask(call, write(call, "/2/tweets", Json(_post(call)), repeatable=False), TABLE)
        if isinstance(got, Rejected) and got.code == DUPLICATE:
            return await _resolve_duplicate(call, got)
        if not isinstance(got, HttpSuccess):
            return got
        remote_id = got.text("data", "id")
        return sent(got, remote_id, post_url(call, remote_id) if remote_id else None)

    async def find_out(self, call: AttemptContext) -> Finding:
        """Read the account's list."""
        return await look(call)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Add the address, which follows from the id."""
        if sent.remote_id is None or sent.url is not None:
            return sent
        return Sent(sent.remote_id, post_url(call, sent.remote_id), sent.note)

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Exchange the refresh token, which is used up by it."""
        return await renew(call)


async def _resolve_duplicate(call: AttemptContext, refused: Rejected) -> Outcome:
    """Decide what a refused duplicate means; this call itself surely made no post.

    A young twin is this delivery's own, by an attempt whose answer was lost; an old one is another post.
    One that is not shown may appear yet, or was deleted: tried again a few times, not for ever.
    """
    found = await recent_duplicate(call)
    if found is not None:
        return Sent(found.remote_id, found.url, "X had it already; it was not posted again.")
    if await earlier_duplicate(call):
        return refused
    return Transient("X says that it has this text already, and does not show it.")


def _post(call: AttemptContext) -> dict[str, Any]:
    """Write one part; the first carries the media, the others answer the part before."""
    message = call.message
    body: dict[str, Any] = {"text": (message.text, *message.parts)[call.part]}
    if call.part == 0 and call.state.get("media"):
        body["media"] = {"media_ids": list(call.state["media"])}
    if call.part == 0 and message.options.get("reply_settings"):
        body["reply_settings"] = message.options["reply_settings"]
    if call.part > 0:
        body["reply"] = {"in_reply_to_tweet_id": call.sent_parts[-1]}
    return body
