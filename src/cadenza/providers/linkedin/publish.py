"""Publish on LinkedIn, as a person or an organisation: bring the files, then post once.

There is no idempotency key. LinkedIn refuses the same text again for about ten minutes and names the
first post; that answer counts as success. After silence, an organisation's post is looked for in its
list; a profile's cannot be, so a person must look. Limit: no threads, no first comments, no mentions.
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
from cadenza.providers.linkedin.auth import renew
from cadenza.providers.linkedin.errors import POST_URL, TABLE
from cadenza.providers.linkedin.find import look
from cadenza.providers.linkedin.limits import problems
from cadenza.providers.linkedin.little import commentary
from cadenza.providers.linkedin.speak import write
from cadenza.providers.linkedin.upload import upload_media, wait_for_processing
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.outcome import Finding, NotReady, Outcome, Sent
from cadenza.providers.reply import HttpSuccess, ask, sent


class LinkedIn:
    """The adapter."""

    name = "linkedin"
    channels = (Channel.LINKEDIN_PROFILE, Channel.LINKEDIN_ORGANIZATION)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        findable = channel is Channel.LINKEDIN_ORGANIZATION
        return Capabilities(idempotency=Idempotency.NONE, findable=findable)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that LinkedIn would refuse."""
        return problems(message)

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Bring the next file, or wait for one that is being worked on."""
        return await upload_media(call)

    async def publish(self, call: AttemptContext) -> Outcome:
        """Post; the call that must not happen twice."""
        got = await ask(call, write(call, "/rest/posts", _post(call), repeatable=False), TABLE)
        if isinstance(got, NotReady):
            return wait_for_processing(call, got.message)
        if not isinstance(got, HttpSuccess):
            return got
        urn = got.reply.header("x-restli-id")
        return sent(got, urn, POST_URL.format(urn) if urn else None)

    async def find_out(self, call: AttemptContext) -> Finding:
        """Read the organisation's list; say that a profile cannot be read."""
        return await look(call)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Add the address, which follows from the id."""
        if sent.remote_id is None or sent.url is not None:
            return sent
        return Sent(sent.remote_id, POST_URL.format(sent.remote_id), sent.note)

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Exchange the refresh token, where LinkedIn gave one."""
        return await renew(call)


def _post(call: AttemptContext) -> dict[str, Any]:
    message = call.message
    body: dict[str, Any] = {
        "author": call.account.remote_id,
        "commentary": commentary(message.text),
        "visibility": message.options.get("visibility", "PUBLIC"),
        "distribution": {
            "feedDistribution": "MAIN_FEED",
            "targetEntities": [],
            "thirdPartyDistributionChannels": [],
        },
        "lifecycleState": "PUBLISHED",
        "isReshareDisabledByAuthor": False,
    }
    content = _content(message, list(call.state.get("media", ())))
    return {**body, "content": content} if content else body


def _content(message: Message, urns: list[str]) -> dict[str, Any] | None:
    media = message.media
    if len(urns) > 1:
        pairs = zip(urns, media, strict=True)
        return {"multiImage": {"images": [_described(urn, item) for urn, item in pairs]}}
    if urns:
        one = _described(urns[0], media[0])
        if media[0].kind in {MediaKind.DOCUMENT, MediaKind.VIDEO}:
            one["title"] = message.subject or media[0].name or "Untitled"
        return {"media": one}
    if message.link:
        # LinkedIn does not read the page, so the card says only what we say.
        article = {"source": message.link, "title": message.subject or message.link}
        return {"article": article}
    return None


def _described(urn: str, item: MediaItem) -> dict[str, Any]:
    return {"id": urn, "altText": item.alt} if item.alt else {"id": urn}
