"""Publish on Bluesky: upload files, write each part under a key of our own, look by that key.

The record's key is made from the attempt's key (keys.py) and written with "create only", so a repeated
call can never be a second post nor overwrite another. After silence, `getRecord` says for certain
whether the part is there. A video goes up like a picture; Bluesky makes it playable once the post names it.
Limit: the fetching of link cards is not done.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

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
from cadenza.providers.bluesky.errors import MISSING, TABLE
from cadenza.providers.bluesky.facets import handles
from cadenza.providers.bluesky.keys import record_key, unordered_key
from cadenza.providers.bluesky.limits import problems
from cadenza.providers.bluesky.record import COLLECTION, build, stamp, text_of
from cadenza.providers.bluesky.session import tokens_of
from cadenza.providers.first_comment import AS_PART, left_out
from cadenza.providers.http.request import Json, Request, Timeouts
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, MediaItem, Message, Tokens
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Absent,
    Disconnected,
    Finding,
    Found,
    Outcome,
    Rejected,
    Sent,
    Transient,
)
from cadenza.providers.reply import HttpSuccess, ask, bearer, no_answer, sent

AGAIN = timedelta(seconds=30)
UPLOAD_SECONDS = 120.0  # and longer by size


class Bluesky:
    """The adapter."""

    name = "bluesky"
    channels = (Channel.BLUESKY,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.OWN_ID, findable=True, threads=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that the server would refuse."""
        found = problems(message)
        card = unseen_link(message, "Bluesky beside files") if message.media else []
        return [*found, *left_out(message, "Bluesky", AS_PART), *card]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Upload the next file, find who is mentioned, learn what the parts before are called."""
        state: dict[str, Any] = dict(call.state)
        if "made_at" not in state:
            state |= {"made_at": stamp(call.now), "in_order": True}
        blobs = list(state.get("blobs", ()))
        if call.part == 0 and len(blobs) < len(call.message.media):
            return await _upload(call, call.message.media[len(blobs)], state)
        for handle in handles("\n".join((call.message.text, *call.message.parts))):
            if handle not in state.get("dids", {}):
                return await _resolve(call, handle, state)
        return await _learn(call, state)

    async def publish(self, call: AttemptContext) -> Outcome:
        """Write one record; the call that must not happen twice."""
        if call.part > 0:  # the part before may have come out after all was prepared
            learnt = await _learn(call, dict(call.state))
            if not isinstance(learnt, Prepared):
                return learnt  # a read failed: nothing was written
            call = replace(call, state=learnt.state)
        body = {
            "repo": call.account.remote_id,
            "collection": COLLECTION,
            "rkey": _key(call),
            "record": build(call),
            "swapRecord": None,  # create only: another record under this key is never overwritten
        }
        got = await ask(call, _post(call, "repo.putRecord", Json(body)), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        uri = got.text("uri")
        return sent(got, uri, _page(call, uri) if uri else None)

    async def find_out(self, call: AttemptContext) -> Finding:
        """Ask for the record under the attempt's key."""
        got = await _record(call, _uri(call))
        if isinstance(got, Rejected) and got.code == MISSING:
            return Absent()
        if not isinstance(got, HttpSuccess) or not isinstance(got.at("value"), dict):
            return no_answer(got, "The server did not say whether the post is there.", AGAIN)
        if got.at("value", "text") != text_of(call):
            return Absent()  # another record has the key, and ours cannot have overwritten it
        return Found(_uri(call), _page(call, _uri(call)), _at(got.text("value", "createdAt")))

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Nothing is left to do: the address follows from the key."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Exchange the session; a repeat within two hours gets the same successor."""
        token = call.tokens.refresh
        if token is None:
            message = "There is nothing to renew the session with; connect again."
            return Disconnected(message, NOTHING_TO_RENEW)
        request = Request(
            "POST",
            _xrpc(call, "server.refreshSession"),
            {"authorization": bearer(token)},
            idempotent=True,
            secrets=(token,),
        )
        got = await ask(call, request, TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        fresh = tokens_of(got, call.now)
        return fresh or Transient("The server renewed the session without giving it.")


def _xrpc(call: AttemptContext, method: str) -> str:
    """Return the address of a method on the account's own server."""
    server = str(call.account.settings.get("pds") or call.app.base_url).rstrip("/")
    return f"{server}/xrpc/com.atproto.{method}"


def _post(call: AttemptContext, method: str, body: Json) -> Request:
    return Request(
        "POST",
        _xrpc(call, method),
        {"authorization": bearer(call.tokens.access)},
        body,
        timeout=Timeouts(connect=10, read=30, total=30),
        secrets=(call.tokens.access,),
    )


def _key(call: AttemptContext) -> str:
    made_at = datetime.fromisoformat(call.state["made_at"])
    if not call.state.get("in_order"):  # prepared before an upgrade: look where it was written
        return unordered_key(call.account.id, call.key, made_at)
    return record_key(call.account.id, call.key, made_at, call.part)


def _uri(call: AttemptContext) -> str:
    return f"at://{call.account.remote_id}/{COLLECTION}/{_key(call)}"


def _page(call: AttemptContext, uri: str) -> str:
    return f"https://bsky.app/profile/{call.account.remote_id}/post/{uri.rpartition('/')[2]}"


async def _record(call: AttemptContext, uri: str) -> HttpSuccess | Outcome:
    """Read a record; it is public, so a session that ran out does not matter."""
    repo, collection, rkey = uri.removeprefix("at://").split("/")
    query = urlencode({"repo": repo, "collection": collection, "rkey": rkey})
    return await ask(call, Request("GET", f"{_xrpc(call, 'repo.getRecord')}?{query}"), TABLE)


async def _upload(
    call: AttemptContext, item: MediaItem, state: dict[str, Any]
) -> StillPreparing | Outcome:
    request = Request(
        "POST",
        _xrpc(call, "repo.uploadBlob"),
        {"authorization": bearer(call.tokens.access), "content-type": item.mime},
        await item.read(),
        timeout=Timeouts(connect=10, read=60, total=UPLOAD_SECONDS + item.size / PACE),
        idempotent=True,
        secrets=(call.tokens.access,),
    )
    got = await ask(call, request, TABLE)
    if not isinstance(got, HttpSuccess):
        return got
    blob = got.at("blob")
    if not isinstance(blob, dict):
        return Transient("The server took a file without naming it.")
    return StillPreparing({**state, "blobs": [*state.get("blobs", ()), blob]})


async def _resolve(
    call: AttemptContext, handle: str, state: dict[str, Any]
) -> StillPreparing | Outcome:
    query = urlencode({"handle": handle})
    request = Request("GET", f"{_xrpc(call, 'identity.resolveHandle')}?{query}")
    got = await ask(call, request, TABLE)
    if not isinstance(got, HttpSuccess | Rejected):
        return got
    did = (got.text("did") if isinstance(got, HttpSuccess) else None) or ""  # unknown: plain text
    return StillPreparing({**state, "dids": {**state.get("dids", {}), handle: did}})


async def _learn(call: AttemptContext, state: dict[str, Any]) -> Prepared | Outcome:
    """Learn the hashes of the first part and the part before: an answer names both."""
    cids = dict(state.get("cids", {}))
    for uri in dict.fromkeys((*call.sent_parts[:1], *call.sent_parts[-1:])):
        if uri in cids:
            continue
        got = await _record(call, uri)
        if not isinstance(got, HttpSuccess):
            return got
        cid = got.text("cid")
        if cid is None:
            return Transient("The server showed a part of the thread without its hash.")
        cids[uri] = cid
    return Prepared({**state, "cids": cids} if cids else state)


def _at(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
