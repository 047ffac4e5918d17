"""Bring files to X: pictures in one go, GIFs and films in pieces, then wait until they can be used.

State holds X's own ids and the number of the next piece, so an upload goes on where it stopped. Several
pieces go in one step, because each step reads the whole file again.
"""

from datetime import timedelta
from typing import Any

from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.http.request import File, Json, Multipart
from cadenza.providers.message import MediaItem, MediaKind
from cadenza.providers.outcome import Outcome, Rejected, Transient
from cadenza.providers.reply import HttpSuccess, ask
from cadenza.providers.x.errors import TABLE
from cadenza.providers.x.requests import read, write

PIECE = 4 * 1024 * 1024
PIECES_A_STEP = 16
POLL = timedelta(seconds=5)
CLOSED = -1  # as number of the next piece: all are there, X is at work
CATEGORIES = {
    MediaKind.IMAGE: "tweet_image",
    MediaKind.GIF: "tweet_gif",
    MediaKind.VIDEO: "tweet_video",
}


async def upload_media(call: AttemptContext) -> Prepared | StillPreparing | Outcome:
    """Take the next step with the next file."""
    ids: list[str] = list(call.state.get("media", ()))
    ready = int(call.state.get("ready", 0))
    if call.part > 0 or ready == len(call.message.media):
        return Prepared({"media": ids, "ready": ready})
    item = call.message.media[ready]
    if len(ids) == ready:
        if item.kind is MediaKind.IMAGE:
            return await _whole(call, item, ids)
        return await _begin(call, item, ids)
    piece = int(call.state.get("next", 0))
    if piece == CLOSED:
        return await _look_after(call, item, ids)
    return await _pieces(call, item, ids, piece)


async def _whole(call: AttemptContext, item: MediaItem, ids: list[str]) -> StillPreparing | Outcome:
    file = File(await item.read(), item.name or "file", item.mime)
    body = Multipart({"media": file}, {"media_category": CATEGORIES[item.kind]})
    got = await ask(call, write(call, "/2/media/upload", body, repeatable=True), TABLE)
    media_id = got.text("data", "id") if isinstance(got, HttpSuccess) else None
    if media_id is None:
        return _nameless(got)
    return await _described(call, item, [*ids, media_id])


async def _begin(call: AttemptContext, item: MediaItem, ids: list[str]) -> StillPreparing | Outcome:
    wanted = {
        "media_type": item.mime,
        "total_bytes": item.size,
        "media_category": CATEGORIES[item.kind],
    }
    request = write(call, "/2/media/upload/initialize", Json(wanted), repeatable=True)
    got = await ask(call, request, TABLE)
    media_id = got.text("data", "id") if isinstance(got, HttpSuccess) else None
    if media_id is None:
        return _nameless(got)
    return StillPreparing({"media": [*ids, media_id], "ready": len(ids), "next": 0})


async def _pieces(
    call: AttemptContext, item: MediaItem, ids: list[str], piece: int
) -> StillPreparing | Outcome:
    """Send the next pieces; when all are there, close, in a step of its own."""
    count = -(-item.size // PIECE)
    if piece >= count:
        return await _close(call, item, ids)
    data = await item.read()
    end = min(count, piece + PIECES_A_STEP)
    for number in range(piece, end):
        file = File(data[number * PIECE : (number + 1) * PIECE], "piece")
        body = Multipart({"media": file}, {"segment_index": str(number)})
        path = f"/2/media/upload/{ids[-1]}/append"
        got = await ask(call, write(call, path, body, repeatable=True), TABLE)
        if not isinstance(got, HttpSuccess):
            return _restart_if_expired(got)
    return StillPreparing({"media": ids, "ready": len(ids) - 1, "next": end})


async def _close(call: AttemptContext, item: MediaItem, ids: list[str]) -> StillPreparing | Outcome:
    path = f"/2/media/upload/{ids[-1]}/finalize"
    got = await ask(call, write(call, path, None, repeatable=True), TABLE)
    if isinstance(got, Rejected):
        # Perhaps closed before, by a call whose answer was lost; a new upload settles it.
        return Transient(got.message, restart=True)
    if not isinstance(got, HttpSuccess):
        return got
    if got.at("data", "processing_info") is None and got.text("data", "id"):
        return await _described(call, item, ids)
    state = {"media": ids, "ready": len(ids) - 1, "next": CLOSED}
    return StillPreparing(state, _wait(got), "X is working on a file.")


async def _look_after(
    call: AttemptContext, item: MediaItem, ids: list[str]
) -> StillPreparing | Outcome:
    path = f"/2/media/upload?command=STATUS&media_id={ids[-1]}"
    got = await ask(call, read(call, path), TABLE)
    if not isinstance(got, HttpSuccess):
        return _restart_if_expired(got)
    state = got.text("data", "processing_info", "state")
    if state == "failed":
        return Rejected(f"X cannot use {item.name or 'a file'}.", "processing_failed")
    if state == "succeeded":
        return await _described(call, item, ids)
    kept = {"media": ids, "ready": len(ids) - 1, "next": CLOSED}
    return StillPreparing(kept, _wait(got), "X is working on a file.")


async def _described(
    call: AttemptContext, item: MediaItem, ids: list[str]
) -> StillPreparing | Outcome:
    """Add the description for who cannot see, and call the file ready."""
    if item.alt and item.kind is not MediaKind.VIDEO:
        words = {"id": ids[-1], "metadata": {"alt_text": {"text": item.alt}}}
        request = write(call, "/2/media/metadata", Json(words), repeatable=True)
        got = await ask(call, request, TABLE)
        if not isinstance(got, HttpSuccess):
            return got
    return StillPreparing({"media": ids, "ready": len(ids)})


def _wait(got: HttpSuccess) -> timedelta:
    seconds: Any = got.at("data", "processing_info", "check_after_secs")
    known = isinstance(seconds, int) and 0 < seconds <= 3600
    return timedelta(seconds=seconds) if known else POLL


def _nameless(got: HttpSuccess | Outcome) -> Outcome:
    return Transient("X took a file without naming it.") if isinstance(got, HttpSuccess) else got


def _restart_if_expired(outcome: Outcome) -> Outcome:
    """Start again where X has forgotten the upload; they live a day."""
    if isinstance(outcome, Rejected) and outcome.code in {"resource-not-found", "404"}:
        return Transient("An upload is gone on X; it starts again.", restart=True)
    return outcome
