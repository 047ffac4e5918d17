"""Publish on a Facebook page in two phases: make the post unseen, then switch it on.

`prepare` uploads photos one a call and makes an unpublished post of them, or sends a video in pieces.
`publish` only says "show it": `is_published=true` on the post, `finish` on the video's upload. Both name
one thing that we know beforehand, so an unconfirmed send is settled by looking at it, and the same switch pressed
twice makes no second post. Reels and stories are in short.py; a first comment follows in `finish`.
"""

from datetime import datetime, timedelta
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
from cadenza.providers.facebook.errors import PUBLISH, TABLE
from cadenza.providers.facebook.film import (
    film_of,
    find_film,
    finish_film,
    prepare_film,
    show_film,
)
from cadenza.providers.facebook.limits import problems
from cadenza.providers.facebook.short import (
    STORY,
    find_photo_story,
    is_photo_story,
    prepare_short,
    short_of,
    show_photo_story,
    show_short,
)
from cadenza.providers.http.request import File, Request
from cadenza.providers.message import AccountRef, MediaItem, Message, Tokens
from cadenza.providers.meta.comment import comment, within_time_left
from cadenza.providers.meta.graph import FACEBOOK, ask_graph, graph
from cadenza.providers.meta.signin import SignInDialog, renew_page
from cadenza.providers.meta.usage import breather
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Finding,
    Found,
    Outcome,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.reply import HttpSuccess, no_answer

# Facebook throws unpublished photos away after about a day.
KEEPS = timedelta(hours=20)
AGAIN = timedelta(minutes=1)


class Facebook:
    """The adapter."""

    name = "facebook"
    channels = (Channel.FACEBOOK_PAGE,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.PER_CONTAINER, findable=True, first_comment=True
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that the page would refuse."""
        return problems(message)

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Upload the next file or make the unseen post; start over if what there is grew old."""
        state = dict(call.state) or {"since": call.now.isoformat()}
        if _old(call, state):
            return await self._again(call, state)
        if film_of(call.message) is not None:
            short = short_of(call.message) is not None
            return await (prepare_short if short else prepare_film)(call, state)
        if state.get("post"):
            return Prepared(state)
        photos: list[str] = list(state.get("photos", ()))
        if len(photos) < len(call.message.media):
            return await _photo(call, state, call.message.media[len(photos)])
        return Prepared(state) if is_photo_story(call.message) else await _unseen(call, state)

    async def _again(
        self, call: AttemptContext, state: dict[str, Any]
    ) -> Prepared | StillPreparing | Outcome:
        """Begin again, but only if the old one is surely not shown."""
        match await self.find_out(call):
            case Found():
                return Prepared(state)  # the switch is pressed once more, and changes nothing
            case CannotTell(message=message) if not is_photo_story(call.message):
                return Transient(message)
            case _:  # of a photo's story nobody ever tells; what may be out is not prepared again
                return StillPreparing({"since": call.now.isoformat()})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Press the switch; the call that must not happen twice, and harms nothing if it does."""
        outcome = await _show(call)
        match outcome:
            case Sent() | Unconfirmed() | Disconnected() | Transient(restart=False):
                return outcome
            case _:
                # It may answer a repeated call; so may 506, the same words right before.
                found = await self.find_out(call)
                return Sent(found.remote_id, found.url) if isinstance(found, Found) else outcome

    async def find_out(self, call: AttemptContext) -> Finding:
        """Look at the thing itself: it was named before it could be seen."""
        if film_of(call.message) is not None:
            return await find_film(call)
        if is_photo_story(call.message):
            return find_photo_story() if call.state.get("photos") else Absent()
        post = str(call.state.get("post") or "")
        if not post:
            return Absent()
        request = _look(call, post, "is_published,permalink_url")
        got = await ask_graph(call, request, TABLE)
        match got.at("is_published") if isinstance(got, HttpSuccess) else None:
            case True:
                assert isinstance(got, HttpSuccess)
                return Found(post, got.text("permalink_url"))
            case False:
                return Absent()
            case _:
                return no_answer(got, "Facebook did not say whether it shows the post.", AGAIN)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Write the first comment and bring the address, which cannot be made from the id."""
        if short_of(call.message) != STORY:
            sent = await comment(call, graph(call.app, call.tokens.access), sent, TABLE)
        if sent.remote_id is None or sent.url is not None or is_photo_story(call.message):
            return sent
        if film_of(call.message) is not None:
            return await finish_film(call, sent)
        request = within_time_left(call, _look(call, sent.remote_id, "permalink_url"))
        got = await ask_graph(call, request, TABLE)
        url = got.text("permalink_url") if isinstance(got, HttpSuccess) else None
        return Sent(sent.remote_id, url, sent.note)

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Renew the person's token and read the page's again."""
        base = call.app.base_url or FACEBOOK
        door = SignInDialog(call.http, call.app, call.now, TABLE, base)
        return await renew_page(door, call.tokens, call.account.remote_id)


async def _show(call: AttemptContext) -> Outcome:
    """Say the last word, whatever shape the post has."""
    if is_photo_story(call.message):
        return await show_photo_story(call)
    if film_of(call.message) is None:
        return await _switch(call)
    return await (show_short(call) if short_of(call.message) else show_film(call))


async def _switch(call: AttemptContext) -> Outcome:
    post = str(call.state["post"])
    fields = {"is_published": "true"}
    request = graph(call.app, call.tokens.access).post(post, fields, idempotent=False)
    got = await ask_graph(call, request, PUBLISH)
    if not isinstance(got, HttpSuccess):
        return got
    if got.at("success") is True:
        return Sent(post)
    return Unconfirmed("Facebook did not say whether it shows the post.")


def _old(call: AttemptContext, state: dict[str, Any]) -> bool:
    """Say whether Facebook may have thrown away what was uploaded."""
    since = datetime.fromisoformat(str(state["since"]))
    return bool(call.message.media) and call.now - since > KEEPS


async def _photo(
    call: AttemptContext, state: dict[str, Any], item: MediaItem
) -> StillPreparing | Outcome:
    """Upload one photo that nobody sees yet."""
    fields = {"published": "false", **({"alt_text_custom": item.alt} if item.alt else {})}
    file = File(await item.read(), item.name or "photo", item.mime)
    path = f"{call.account.remote_id}/photos"
    request = graph(call.app, call.tokens.access).upload(path, {"source": file}, fields)
    got = await ask_graph(call, request, TABLE)
    if not isinstance(got, HttpSuccess):
        return got
    photo = got.text("id")
    if photo is None:
        return Transient("Facebook took a photo without naming it.")
    return StillPreparing(
        {**state, "photos": [*state.get("photos", ()), photo]}, breather(got.reply)
    )


async def _unseen(call: AttemptContext, state: dict[str, Any]) -> Prepared | Outcome:
    """Make the post that nobody sees yet."""
    fields = {"published": "false"}
    if call.message.text:
        fields["message"] = call.message.text
    if call.message.link:
        fields["link"] = call.message.link
    for index, photo in enumerate(state.get("photos", ())):
        fields[f"attached_media[{index}]"] = f'{{"media_fbid":"{photo}"}}'
    path = f"{call.account.remote_id}/feed"
    got = await ask_graph(call, graph(call.app, call.tokens.access).post(path, fields), TABLE)
    if not isinstance(got, HttpSuccess):
        return got
    post = got.text("id")
    if post is None:
        return Transient("Facebook made a post without naming it; nobody sees it.")
    return Prepared({**state, "post": post})


def _look(call: AttemptContext, node: str, fields: str) -> Request:
    return graph(call.app, call.tokens.access).get(node, {"fields": fields})
