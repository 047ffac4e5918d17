"""Publish on Instagram: containers for each file, one for the post, published once.

Pictures are fetched by Instagram from their public addresses; a video that has none is sent as bytes. A
story is a container of its own kind, without words. What an unconfirmed send came to is read from the container's
status (see meta/containers.py). A first comment is written after the post is out.
"""

from datetime import timedelta

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.instagram.errors import TABLE, blame
from cadenza.providers.instagram.limits import problems
from cadenza.providers.instagram.options import written
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.meta import containers, lookup
from cadenza.providers.meta.comment import comment, within_time_left
from cadenza.providers.meta.containers import BY_BYTES, Dialect, Plan
from cadenza.providers.meta.graph import FACEBOOK, Graph, ask_graph, graph
from cadenza.providers.meta.longlived import renew
from cadenza.providers.meta.signin import SignInDialog, renew_page
from cadenza.providers.outcome import Finding, Outcome, Rejected, Sent
from cadenza.providers.reply import HttpSuccess

INSTAGRAM = "https://graph.instagram.com"
LOGIN = "login"  # in an account's settings: which sign-in its token is from
PAGE = "page"  # and, for Facebook's, the page that it belongs to
IN_POSTS = ("location_id", "collaborators", "user_tags")
IN_REELS = ("share_to_feed", "cover_url", "thumb_offset", "location_id", "collaborators")
A_FILM = timedelta(seconds=30)
A_PICTURE = timedelta(seconds=5)


class Instagram:
    """The adapter."""

    name = "instagram"
    channels = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.PER_CONTAINER,
            findable=True,
            fetches_media=True,
            first_comment=channel is Channel.INSTAGRAM_FEED,
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Instagram would refuse."""
        return problems(message)

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Make and wait for the containers, one step a call."""
        if not call.message.media:
            return Rejected("Instagram posts need a picture or a video.", "no_media")
        return await containers.prepare(call, DIALECT, plan(call.message))

    async def publish(self, call: AttemptContext) -> Outcome:
        """Publish the container; the call that must not happen twice, and cannot."""
        shown = await containers.show(call, DIALECT)
        if not isinstance(shown, str):
            return shown
        return Sent(shown) if shown else await lookup.name(call, DIALECT, words(call.message))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Look at the container, then for the post's id."""
        return await lookup.find(call, DIALECT, words(call.message))

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Write the first comment and bring the address, which cannot be made from the id."""
        if call.message.channel is Channel.INSTAGRAM_FEED:
            sent = await comment(call, graph_of(call), sent, TABLE)
        if sent.remote_id is None or sent.url is not None:
            return sent
        request = graph_of(call).get(sent.remote_id, {"fields": "permalink"})
        got = await ask_graph(call, within_time_left(call, request), TABLE)
        url = got.text("permalink") if isinstance(got, HttpSuccess) else None
        return Sent(sent.remote_id, url, sent.note)

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Renew by the sign-in that the token is from."""
        base = _base(call)
        door = SignInDialog(call.http, call.app, call.now, TABLE, base)
        if _by_facebook(call):
            page = str(call.account.settings.get(PAGE) or "")
            return await renew_page(door, call.tokens, page)
        return await renew(door, call.tokens, "ig_refresh_token")


def plan(message: Message) -> Plan:
    """Lay out the containers of a message."""
    first, *others = media = message.media
    slow = any(item.kind is MediaKind.VIDEO for item in media)
    look = A_FILM if slow else A_PICTURE
    if message.channel is Channel.INSTAGRAM_STORY:
        fields = {name: value for name, value in _file(first).items() if name != "alt_text"}
        return Plan((), {"media_type": "STORIES", **fields}, look, media)
    caption = {"caption": message.text} if message.text else {}
    if others:
        pieces = tuple({"is_carousel_item": "true", **_kind(item), **_file(item)} for item in media)
        return Plan(
            pieces,
            {"media_type": "CAROUSEL", **caption, **written(message.options, IN_POSTS)},
            look,
            media,
        )
    if slow:
        reel = {"media_type": "REELS", **_file(first), **written(message.options, IN_REELS)}
        return Plan((), {**reel, **caption}, look, media)
    return Plan((), {**_file(first), **caption, **written(message.options, IN_POSTS)}, look)


def words(message: Message) -> str:
    """Return the words that people will see."""
    return "" if message.channel is Channel.INSTAGRAM_STORY else message.text


def _kind(item: MediaItem) -> dict[str, str]:
    return {"media_type": "VIDEO"} if item.kind is MediaKind.VIDEO else {}


def _file(item: MediaItem) -> dict[str, str]:
    if item.kind is MediaKind.VIDEO:
        return {"video_url": item.url} if item.url else dict([BY_BYTES])
    alt = {"alt_text": item.alt} if item.alt else {}
    return {"image_url": item.url or "", **alt}


def _by_facebook(call: AttemptContext) -> bool:
    return call.account.settings.get(LOGIN) == "facebook"


def _base(call: AttemptContext) -> str:
    if _by_facebook(call):
        return call.app.options.get("facebook") or FACEBOOK
    return call.app.base_url or INSTAGRAM


def graph_of(call: AttemptContext) -> Graph:
    """Return the Graph that the account's token is good for."""
    return graph(call.app, call.tokens.access, base=_base(call))


def _lists(call: AttemptContext) -> str:
    return "stories" if call.message.channel is Channel.INSTAGRAM_STORY else "media"


DIALECT = Dialect(
    network="Instagram",
    table=TABLE,
    graph=graph_of,
    make="media",
    show="media_publish",
    status="status_code",
    why="status",
    text="caption",
    lists=_lists,
    blame=blame,
)
