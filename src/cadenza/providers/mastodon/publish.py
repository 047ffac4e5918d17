"""Publish on Mastodon: upload media, post each part once under its key, find it again after silence.

`prepare` uploads one file a call and waits while the server works on it. `publish` sends one status
with the attempt's key as `Idempotency-Key`. `find_out` reads the account's list. Mastodon itself remembers a
key for an hour: inside it, what the list does not show is sent again and comes back as the same status, not a
second one. Other programs ignore the key, so nothing is repeated there (`software.py`). Limit: a server may
drop a post silently (anti-spam); `finish` notices and says so.
"""

from collections.abc import Mapping
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
from cadenza.providers.first_comment import AS_PART, left_out
from cadenza.providers.http.request import File, Json, Multipart, Request, Timeouts
from cadenza.providers.link_card import unseen_link
from cadenza.providers.mastodon.errors import TABLE, UPLOADS
from cadenza.providers.mastodon.find import in_list
from cadenza.providers.mastodon.limits import of_account, problems
from cadenza.providers.mastodon.request import AGAIN, base_url, read
from cadenza.providers.mastodon.software import keeps_keys
from cadenza.providers.message import AccountRef, MediaItem, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Finding,
    Found,
    Outcome,
    Rejected,
    Sent,
    Transient,
)
from cadenza.providers.reply import HttpSuccess, ask, bearer, no_answer, sent

WINDOW = timedelta(hours=1)
# A key is replayed only while it surely still lives: clocks differ, and requests take their time.
MARGIN = timedelta(minutes=5)
# Seconds that looking may take before a call is repeated: what holds sending was asked before we looked.
REPEAT_WITHIN = 4.0
POLL = timedelta(seconds=3)
UPLOADS_KEPT = timedelta(hours=12)  # of the day that servers keep them
UPLOAD_TIME = Timeouts(connect=10, read=60, total=300)
MISSING = "404"


class Mastodon:
    """The adapter."""

    name = "mastodon"
    channels = (Channel.MASTODON,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.SOME_SERVERS,
            window=WINDOW,
            findable=True,
            repeats=True,
            threads=True,
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that this account's server would refuse."""
        found = problems(message, of_account(account))
        return [*found, *left_out(message, "Mastodon", AS_PART), *unseen_link(message, "Mastodon")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Upload the next file, or wait for one that is being worked on."""
        state = call.state if _is_fresh(call) else {}
        ids: list[str] = list(state.get("media", ()))
        ready = int(state.get("ready", 0))
        if call.part > 0 or ready == len(call.message.media):
            return Prepared(dict(state))
        if len(ids) == ready:
            return await _upload(call, call.message.media[ready], ids)
        return await _look_after(call, ids, ready)

    async def publish(self, call: AttemptContext) -> Outcome:
        """Post one part; the call that must not happen twice."""
        got = await ask(call, _status(call, idempotent=False), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        return sent(got, got.text("id"), got.text("url"))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Read the account's list; where the server keeps keys, repeat what it does not show."""
        started = call.http.clock.monotonic()
        found = await in_list(call)
        if isinstance(found, Found) or not _is_key_young(call):
            return found
        keeps = await keeps_keys(call)
        if isinstance(keeps, CannotTell) or not keeps:
            return keeps or found
        if call.http.clock.monotonic() - started > REPEAT_WITHIN:
            return CannotTell("The server was too slow to be asked safely.", AGAIN)
        return await _repeat(call, found)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Look whether the status is truly there: a server may accept and drop."""
        if sent.remote_id is None:
            return sent
        got = await ask(call, read(call, f"/api/v1/statuses/{sent.remote_id}"), TABLE)
        if isinstance(got, HttpSuccess):
            return Sent(sent.remote_id, got.text("url") or sent.url, sent.note)
        if isinstance(got, Rejected) and got.code == MISSING:
            message = "The server accepted the post and does not show it: look at it there."
            return Sent(sent.remote_id, sent.url, message)
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: Mastodon's tokens have no successors."""
        return Disconnected("Mastodon's tokens are not renewed; connect the account again.")


def _is_key_young(call: AttemptContext) -> bool:
    return call.began_at is not None and call.now - call.began_at <= WINDOW - MARGIN


async def _repeat(call: AttemptContext, found: Finding) -> Finding:
    """Make the call again under its key; `found` is what the list says."""
    got = await ask(call, _status(call, idempotent=True), TABLE)
    if isinstance(got, HttpSuccess) and (remote_id := got.text("id")):
        return Found(remote_id, got.text("url"))
    if isinstance(got, Rejected) and got.code == MISSING:
        # The key names a post, and there is none of that name: it was there.
        return CannotTell("It was posted, and somebody deleted it before we could see it.")
    if isinstance(got, Rejected):
        # Refused now, so the first call was refused too, or the key would have answered.
        return found
    return no_answer(got, "The server did not name the post.", AGAIN)


def _status(call: AttemptContext, *, idempotent: bool) -> Request:
    headers = {
        "authorization": bearer(call.tokens.access),
        "accept-language": "en",
        "idempotency-key": call.key,
    }
    return Request(
        "POST",
        f"{base_url(call)}/api/v1/statuses",
        headers,
        Json(_fields(call)),
        timeout=Timeouts(connect=10, read=30, total=30),
        idempotent=idempotent,
        secrets=(call.tokens.access,),
    )


def _fields(call: AttemptContext) -> dict[str, Any]:
    """Write one part; the first carries the media, the others answer the part before."""
    message = call.message
    fields: dict[str, Any] = {"status": (message.text, *message.parts)[call.part]}
    options: Mapping[str, Any] = message.options
    for name in ("visibility", "language", "sensitive", "spoiler_text"):
        if options.get(name):
            fields[name] = options[name]
    if call.part == 0 and call.state.get("media"):
        fields["media_ids"] = list(call.state["media"])
    if call.part > 0:
        fields["in_reply_to_id"] = call.sent_parts[-1]
    return fields


async def _upload(
    call: AttemptContext, item: MediaItem, ids: list[str]
) -> StillPreparing | Outcome:
    """Send one file; servers of other makes know only the older endpoint, which waits itself."""
    body = Multipart(
        {"file": File(await item.read(), item.name or "file", item.mime)},
        {"description": item.alt} if item.alt else {},
    )
    got: HttpSuccess | Outcome = Rejected("not asked yet")
    for version in ("v2", "v1"):
        request = Request(
            "POST",
            f"{base_url(call)}/api/{version}/media",
            {"authorization": bearer(call.tokens.access), "accept-language": "en"},
            body,
            timeout=UPLOAD_TIME,
            idempotent=True,
            secrets=(call.tokens.access,),
        )
        got = await ask(call, request, UPLOADS)
        if not (isinstance(got, Rejected) and got.code == MISSING):
            break
    if not isinstance(got, HttpSuccess):
        return got
    media_id = got.text("id")
    if media_id is None:
        return Transient("The server took a file without naming it.")
    done = got.reply.status == 200
    state = {
        "media": [*ids, media_id],
        "ready": len(ids) + done,
        "since": call.state.get("since") if ids else call.now.isoformat(),
    }
    return StillPreparing(state, timedelta() if done else POLL)


async def _look_after(call: AttemptContext, ids: list[str], ready: int) -> StillPreparing | Outcome:
    """Ask whether the last file is done: 206 while it is being worked on."""
    got = await ask(call, read(call, f"/api/v1/media/{ids[-1]}"), UPLOADS)
    if isinstance(got, Rejected) and got.code == MISSING:
        return Transient("An uploaded file is gone on the server.", restart=True)
    if not isinstance(got, HttpSuccess):
        return got
    if got.reply.status == 206:
        return StillPreparing(call.state, POLL, "A file is being worked on.")
    return StillPreparing({**call.state, "ready": ready + 1})


def _is_fresh(call: AttemptContext) -> bool:
    """Say whether uploads from before can still be used: servers throw out what no post carries."""
    since = call.state.get("since")
    return since is None or call.now - datetime.fromisoformat(since) < UPLOADS_KEPT
