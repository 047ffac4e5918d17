"""Reels and stories of a page: a video named first, its bytes sent up, shown by the last word.

`message.options["as"]` asks for one. A reel and a story's video have an id before anyone sees them, and
their status settles an unconfirmed send, as with ordinary videos. A story's photo has none: Facebook does not tell
whether it is shown, so a lost answer stays an unconfirmed send for a person.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.facebook.errors import PUBLISH, TABLE
from cadenza.providers.facebook.film import film_of
from cadenza.providers.message import Message
from cadenza.providers.meta.graph import FACEBOOK, ask_graph, graph
from cadenza.providers.meta.rupload import send_up
from cadenza.providers.outcome import (
    CannotTell,
    Finding,
    Outcome,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.reply import HttpSuccess

REEL, STORY = "reel", "story"
USED = "1366051"  # a photo was shown before
PATHS = {REEL: "video_reels", STORY: "video_stories"}


def short_of(message: Message) -> str | None:
    """Say whether a message wants to be a reel or a story."""
    wanted = message.options.get("as")
    return wanted if wanted in PATHS else None


def is_photo_story(message: Message) -> bool:
    return short_of(message) == STORY and film_of(message) is None


async def prepare_short(
    call: AttemptContext, state: Mapping[str, Any]
) -> Prepared | StillPreparing | Outcome:
    """Name the video, then send its bytes up."""
    item = film_of(call.message)
    assert item is not None, "called for videos only"
    if not state.get("video"):
        got = await _say(call, {"upload_phase": "start"})
        video = got.text("video_id") if isinstance(got, HttpSuccess) else None
        place = got.text("upload_url") if isinstance(got, HttpSuccess) else None
        if not isinstance(got, HttpSuccess):
            return got
        if video is None or place is None:
            return Transient("Facebook did not say where a video goes.", restart=True)
        return StillPreparing({**state, "video": video, "place": place})
    if not state.get("up"):
        base = call.app.base_url or FACEBOOK
        sent_up = await send_up(call, str(state["place"]), item, table=TABLE, base=base)
        return (
            StillPreparing({**state, "up": True}) if isinstance(sent_up, HttpSuccess) else sent_up
        )
    return Prepared(state)


async def show_short(call: AttemptContext) -> Outcome:
    """Say the last word: from now on people see it."""
    fields = {"upload_phase": "finish", "video_id": str(call.state["video"])}
    if short_of(call.message) == REEL:
        fields |= {"video_state": "PUBLISHED", "description": call.message.text}
    got = await _say(call, fields, irreversible=True)
    if not isinstance(got, HttpSuccess):
        return got
    if got.at("success") is True:
        return Sent(str(call.state["video"]))
    return Unconfirmed("Facebook did not say whether it shows the video.")


async def show_photo_story(call: AttemptContext) -> Outcome:
    """Show an uploaded photo as a story."""
    fields = {"photo_id": str(call.state["photos"][0])}
    path = f"{call.account.remote_id}/photo_stories"
    request = graph(call.app, call.tokens.access).post(path, fields, idempotent=False)
    got = await ask_graph(call, request, PUBLISH)
    if isinstance(got, Rejected) and got.code.endswith(USED):
        return Sent(None, note="Facebook shows this story already.")  # the photo is ours alone
    if not isinstance(got, HttpSuccess):
        return got
    if got.at("success") is True:
        return Sent(got.text("post_id"))
    return Unconfirmed("Facebook did not say whether it shows the story.")


def find_photo_story() -> Finding:
    """Say that nobody can know."""
    return CannotTell("Facebook does not tell whether a story is shown: look at the page.")


async def _say(
    call: AttemptContext, fields: Mapping[str, str], *, irreversible: bool = False
) -> HttpSuccess | Outcome:
    path = f"{call.account.remote_id}/{PATHS[str(short_of(call.message))]}"
    request = graph(call.app, call.tokens.access).post(path, fields, idempotent=not irreversible)
    return await ask_graph(call, request, PUBLISH if irreversible else TABLE)
