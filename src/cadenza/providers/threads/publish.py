"""Publish on Threads: a container a file, one for the post, published once; parts answer the one before.

As on Instagram, but texts stand alone too and need no waiting. Each part of a thread has containers of
its own, made when the part before has its id. What an unconfirmed send came to is read from the container's status.
"""

from collections.abc import Mapping
from datetime import timedelta
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
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.meta import containers, lookup
from cadenza.providers.meta.containers import Dialect, Plan
from cadenza.providers.meta.graph import Graph, ask_graph, graph
from cadenza.providers.meta.longlived import renew
from cadenza.providers.meta.signin import SignInDialog
from cadenza.providers.outcome import Finding, Outcome, Rejected, Sent
from cadenza.providers.reply import HttpSuccess
from cadenza.providers.threads.errors import TABLE, blame
from cadenza.providers.threads.limits import problems

THREADS = "https://graph.threads.net"
VERSION = "v1.0"
CHOICES = ("reply_control", "quote_post_id")
WITH_FILES = timedelta(seconds=30)  # as the network advises


class Threads:
    """The adapter."""

    name = "threads"
    channels = (Channel.THREADS,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.PER_CONTAINER, findable=True, threads=True, fetches_media=True
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Threads would refuse."""
        found = problems(message)
        return [*found, *left_out(message, "Threads", AS_PART)]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Make and wait for the containers of one part, one step a call."""
        if call.part > 0 and not call.sent_parts[-1]:
            message = "The part before is out, but its id is not known: add the rest by hand."
            return Rejected(message, "no_parent")
        return await containers.prepare(call, DIALECT, plan(call))

    async def publish(self, call: AttemptContext) -> Outcome:
        """Publish the container; the call that must not happen twice, and cannot."""
        shown = await containers.show(call, DIALECT)
        if not isinstance(shown, str):
            return shown
        return Sent(shown) if shown else await lookup.name(call, DIALECT, words(call))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Look at the container, then for the post's id."""
        return await lookup.find(call, DIALECT, words(call))

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Bring the address."""
        if sent.remote_id is None or sent.url is not None:
            return sent
        request = graph_of(call).get(sent.remote_id, {"fields": "permalink"})
        got = await ask_graph(call, request, TABLE)
        url = got.text("permalink") if isinstance(got, HttpSuccess) else None
        return Sent(sent.remote_id, url, sent.note)

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Renew a token that is a day old and still alive."""
        door = SignInDialog(call.http, call.app, call.now, TABLE, call.app.base_url or THREADS)
        return await renew(door, call.tokens, "th_refresh_token")


def plan(call: AttemptContext) -> Plan:
    """Lay out the containers of one part; the first carries the files."""
    message = call.message
    media = message.media if call.part == 0 else ()
    common = {**_text(call), **_chosen(message), **_above(call)}
    if len(media) > 1:
        pieces = tuple({"is_carousel_item": "true", **_file(item)} for item in media)
        return Plan(pieces, {"media_type": "CAROUSEL", **common}, WITH_FILES)
    if media:
        return Plan((), {**_file(media[0]), **common}, WITH_FILES)
    link = {"link_attachment": message.link} if message.link and call.part == 0 else {}
    return Plan((), {"media_type": "TEXT", **common, **link}, timedelta())


def words(call: AttemptContext) -> str:
    """Return the words of the part."""
    return (call.message.text, *call.message.parts)[call.part]


def _text(call: AttemptContext) -> dict[str, str]:
    return {"text": words(call)} if words(call) else {}


def _above(call: AttemptContext) -> dict[str, str]:
    return {"reply_to_id": call.sent_parts[-1]} if call.part > 0 else {}


def _chosen(message: Message) -> dict[str, str]:
    options: Mapping[str, Any] = message.options
    return {name: str(options[name]) for name in CHOICES if options.get(name)}


def _file(item: MediaItem) -> dict[str, str]:
    alt = {"alt_text": item.alt} if item.alt else {}
    if item.kind is MediaKind.VIDEO:
        return {"media_type": "VIDEO", "video_url": item.url or "", **alt}
    return {"media_type": "IMAGE", "image_url": item.url or "", **alt}


def graph_of(call: AttemptContext) -> Graph:
    """Return the Graph of Threads."""
    base = call.app.base_url or THREADS
    return graph(call.app, call.tokens.access, base=base, version=VERSION)


def _lists(call: AttemptContext) -> str:
    return "threads" if call.part == 0 else "replies"


DIALECT = Dialect(
    network="Threads",
    table=TABLE,
    graph=graph_of,
    make="threads",
    show="threads_publish",
    status="status",
    why="error_message",
    text="text",
    lists=_lists,
    blame=blame,
)
