"""Bring files to LinkedIn: ask for a place, put the bytes there, wait until it has worked on them.

One file a step, whole: the places are secret addresses and are never stored, so a step that breaks
asks for a new place. A video goes in the pieces that LinkedIn names and is then closed with their
marks, in order. A file that LinkedIn does not get done with in an hour is brought again, as a try. Limit:
pictures of a profile cannot be looked at by its own token; one cycle is waited.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.linkedin.errors import TABLE
from cadenza.providers.linkedin.speak import encoded, headers, read, write
from cadenza.providers.message import MediaItem, MediaKind
from cadenza.providers.outcome import NotReady, Outcome, Rejected, Transient
from cadenza.providers.reply import HttpSuccess, ask

CYCLE = timedelta(seconds=20)
SELDOM = timedelta(minutes=5)
PATIENCE = timedelta(hours=1)
PIECE_TIME = Timeouts(connect=10, read=60, total=300)
_ROOMS = {MediaKind.VIDEO: "video", MediaKind.DOCUMENT: "document"}


def room(item: MediaItem) -> str:
    """Return LinkedIn's word for a kind of file."""
    return _ROOMS.get(item.kind, "image")


async def upload_media(call: AttemptContext) -> Prepared | StillPreparing | Outcome:
    """Upload the next file, or look after the last."""
    urns: list[str] = list(call.state.get("media", ()))
    ready = int(call.state.get("ready", 0))
    if ready == len(call.message.media):
        return Prepared({**call.state, "media": urns, "ready": ready})
    item = call.message.media[ready]
    if len(urns) > ready:
        return await _look_after(call, item, urns)
    urn = await (_video(call, item) if item.kind is MediaKind.VIDEO else _file(call, item))
    if not isinstance(urn, str):
        return urn
    state = {"media": [*urns, urn], "ready": ready, "since": call.now.isoformat()}
    if not _can_look(call, item):
        last = ready + 1 == len(call.message.media)
        return StillPreparing({**state, "ready": ready + 1}, CYCLE if last else timedelta())
    return StillPreparing(state)


def _can_look(call: AttemptContext, item: MediaItem) -> bool:
    return item.kind is MediaKind.VIDEO or call.message.channel is Channel.LINKEDIN_ORGANIZATION


async def _file(call: AttemptContext, item: MediaItem) -> str | Outcome:
    kind = room(item)
    place = await _place(call, kind, {})
    if not isinstance(place, dict):
        return place
    url, urn = place.get("uploadUrl"), place.get(kind)
    if not isinstance(url, str) or not isinstance(urn, str):
        return Transient("LinkedIn named no place for a file.")
    token = headers(call.app, call.tokens.access)["authorization"]
    put = _put(url, await item.read(), {"authorization": token, "content-type": item.mime})
    got = await ask(call, put, TABLE)
    return urn if isinstance(got, HttpSuccess) else got


async def _video(call: AttemptContext, item: MediaItem) -> str | Outcome:
    data = await item.read()
    wanted = {"fileSizeBytes": len(data), "uploadCaptions": False, "uploadThumbnail": False}
    place = await _place(call, "video", wanted)
    if not isinstance(place, dict):
        return place
    urn, pieces = place.get("video"), _pieces(place.get("uploadInstructions"))
    if not isinstance(urn, str) or not pieces:
        return Transient("LinkedIn named no place for a video.")
    marks: list[str] = []
    for url, first, last in pieces:
        # Without our token: these addresses carry their own right.
        kind = {"content-type": "application/octet-stream"}
        got = await ask(call, _put(url, data[first : last + 1], kind), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        mark = (got.reply.header("etag") or "").strip('"')
        if not mark:
            return Transient("LinkedIn took a piece of a video without marking it.")
        marks.append(mark)
    token = str(place.get("uploadToken") or "")
    closing = {"video": urn, "uploadToken": token, "uploadedPartIds": marks}
    request = write(
        call,
        "/rest/videos?action=finalizeUpload",
        {"finalizeUploadRequest": closing},
        repeatable=True,
    )
    done = await ask(call, request, TABLE)
    return urn if isinstance(done, HttpSuccess) else done


async def _place(call: AttemptContext, kind: str, more: dict[str, Any]) -> dict[str, Any] | Outcome:
    body = {"initializeUploadRequest": {"owner": call.account.remote_id, **more}}
    path = f"/rest/{kind}s?action=initializeUpload"
    got = await ask(call, write(call, path, body, repeatable=True), TABLE)
    if not isinstance(got, HttpSuccess):
        return got
    value = got.at("value")
    return value if isinstance(value, dict) else Transient("LinkedIn named no place for a file.")


def _pieces(named: Any) -> list[tuple[str, int, int]]:
    """Read where each piece of a video goes; nothing, if it cannot be read."""
    try:
        return [(str(p["uploadUrl"]), int(p["firstByte"]), int(p["lastByte"])) for p in named]
    except (KeyError, TypeError, ValueError):
        return []


def _put(url: str, data: bytes, kind: Mapping[str, str | Secret]) -> Request:
    return Request(
        "PUT", url, kind, data, timeout=PIECE_TIME, idempotent=True, secrets=(Secret(url),)
    )


async def _look_after(
    call: AttemptContext, item: MediaItem, urns: list[str]
) -> StillPreparing | Outcome:
    """Ask whether the last file can be used."""
    got = await ask(call, read(call, f"/rest/{room(item)}s/{encoded(urns[-1])}"), TABLE)
    if not isinstance(got, HttpSuccess):
        return got
    if got.text("status") == "AVAILABLE":
        return StillPreparing({**call.state, "ready": len(urns)})
    if got.text("status") == "PROCESSING_FAILED":
        name = item.name or "a file"
        return Rejected(f"LinkedIn cannot read {name}.", "MEDIA_ASSET_PROCESSING_FAILED")
    waits = wait_for_processing(call, "A file is being worked on.")
    return (
        StillPreparing(call.state, waits.wait, waits.message)
        if isinstance(waits, NotReady)
        else waits
    )


def wait_for_processing(call: AttemptContext, message: str) -> NotReady | Transient:
    """Ask again, ever more seldom; in the end the file is taken for lost."""
    since = call.state.get("since")
    age = call.now - datetime.fromisoformat(str(since)) if since else timedelta()
    if age > PATIENCE:
        return Transient(f"LinkedIn does not get done with a file. {message}", restart=True)
    return NotReady(min(max(CYCLE, age / 4), SELDOM), message)
