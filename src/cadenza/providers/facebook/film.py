"""A video on a Facebook page: sent in pieces under a session, shown by the session's last word.

The session names the video before anyone sees it. After a piece whose answer was lost Facebook refuses it
and names the next, and it goes on from there. After an unconfirmed send the video's status tells: still "uploading"
means that the last word never arrived; "processing" or "ready" means that it did. "upload_complete" may
be either, so it is looked at again.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.facebook.errors import PUBLISH, TABLE, WRONG_PIECE
from cadenza.providers.http.outcome import Outcome as HttpOutcome
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import File, Request
from cadenza.providers.message import MediaItem, MediaKind, Message
from cadenza.providers.meta.comment import within_time_left
from cadenza.providers.meta.graph import ask_graph, graph
from cadenza.providers.meta.usage import breather
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Finding,
    Found,
    Outcome,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.reply import HttpSuccess, judge, no_answer, secrets_of

AGAIN = timedelta(minutes=1)
A_MOMENT = timedelta(seconds=5)
HOST = "https://www.facebook.com"
SHOWN = frozenset({"processing", "ready"})
UNFINISHED = frozenset({"uploading", "expired"})


def film_of(message: Message) -> MediaItem | None:
    """Return the message's video, if it is one."""
    return next((item for item in message.media if item.kind is MediaKind.VIDEO), None)


async def prepare_film(
    call: AttemptContext, state: Mapping[str, Any]
) -> Prepared | StillPreparing | Outcome:
    """Open a session, then send the pieces that Facebook asks for; the file is read once for all."""
    item = film_of(call.message)
    assert item is not None, "called for videos only"
    if not state.get("session"):
        fields = {"upload_phase": "start", "file_size": str(item.size)}
        got = await ask_graph(
            call, graph(call.app, call.tokens.access).post(_path(call), fields), TABLE
        )
        return _next(got, state)
    data = await item.read() if state["start"] < state["end"] else b""
    reached = state
    while reached["start"] < reached["end"]:
        told = await _piece(call, item, data, reached)
        if not isinstance(told, StillPreparing):
            # What failed after others had worked is met again, from where it is by then.
            got_on = reached is not state
            return (
                StillPreparing(reached, A_MOMENT, getattr(told, "message", "")) if got_on else told
            )
        reached = told.state
        if told.wait:
            return told
    return Prepared(reached)


async def _piece(
    call: AttemptContext, item: MediaItem, data: bytes, state: Mapping[str, Any]
) -> StillPreparing | Outcome:
    """Send the piece that Facebook asked for."""
    fields = {
        "upload_phase": "transfer",
        "upload_session_id": str(state["session"]),
        "start_offset": str(state["start"]),
    }
    piece = data[state["start"] : state["end"]]
    files = {"video_file_chunk": File(piece, item.name or "video", item.mime)}
    request = graph(call.app, call.tokens.access).upload(_path(call), files, fields)
    came = await call.http.send(request)
    told = judge(came, request, PUBLISH, now=call.now, secrets=secrets_of(call))
    return _further(came, state) or _next(told, state)


def _further(came: HttpOutcome, state: Mapping[str, Any]) -> StillPreparing | None:
    """Go on where Facebook is, if it has pieces that we know no answer of; never back, so it ends."""
    got = HttpSuccess(came, came.json()) if isinstance(came, Reply) and not came.ok else None
    if got is None or got.text("error", "error_subcode") != str(WRONG_PIECE):
        return None
    data = got.at("error", "error_data")
    offsets = HttpSuccess(got.reply, _read(data) if isinstance(data, str) else data)
    start, end = offsets.text("start_offset"), offsets.text("end_offset")
    if not (start and end and start.isdecimal() and end.isdecimal()):
        return None
    if int(start) <= state["start"]:
        return None
    return StillPreparing({**state, "start": int(start), "end": int(end)})


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _next(got: HttpSuccess | Outcome, state: Mapping[str, Any]) -> StillPreparing | Outcome:
    """Keep what Facebook asks for next."""
    if not isinstance(got, HttpSuccess):
        return got
    start, end = got.text("start_offset"), got.text("end_offset")
    session = got.text("upload_session_id") or state.get("session")
    video = got.text("video_id") or state.get("video")
    if not (start and end and session and video and start.isdecimal() and end.isdecimal()):
        return Transient("Facebook did not say how to go on with a video.", restart=True)
    if int(start) <= state.get("start", -1):
        return Transient("Facebook took a piece of a video and got no further.", restart=True)
    kept = {**state, "session": session, "video": video, "start": int(start), "end": int(end)}
    return StillPreparing(kept, breather(got.reply))


async def show_film(call: AttemptContext) -> Outcome:
    """Say the last word: from now on people see it, as soon as Facebook is done with it."""
    fields = {
        "upload_phase": "finish",
        "upload_session_id": str(call.state["session"]),
        "description": call.message.text,
        "published": "true",
    }
    request = graph(call.app, call.tokens.access).post(_path(call), fields, idempotent=False)
    got = await ask_graph(call, request, PUBLISH)
    if not isinstance(got, HttpSuccess):
        return got
    if got.at("success") is True:
        return Sent(str(call.state["video"]))
    return Unconfirmed("Facebook did not say whether it shows the video.")


async def find_film(call: AttemptContext) -> Finding:
    """Look at the video's status."""
    video = str(call.state.get("video") or "")
    if not video:
        return Absent()
    got = await ask_graph(call, _status(call, video), TABLE)
    if not isinstance(got, HttpSuccess):
        return no_answer(got, "Facebook did not say how far the video is.", AGAIN)
    status = got.text("status", "video_status")
    if status in SHOWN:
        return Found(video, _address(got))
    if status in UNFINISHED:
        return Absent()
    return CannotTell(f"Facebook says of the video: {status}.", again=AGAIN)


async def finish_film(call: AttemptContext, sent: Sent) -> Sent:
    """Bring the address, and tell if Facebook could not work with the video after all."""
    request = within_time_left(call, _status(call, str(sent.remote_id)))
    got = await ask_graph(call, request, TABLE)
    if not isinstance(got, HttpSuccess):
        return sent
    note = sent.note
    if got.text("status", "video_status") == "error":
        note = "Facebook took the video and could not work with it: look at it there."
    return Sent(sent.remote_id, _address(got), note)


def _status(call: AttemptContext, video: str) -> Request:
    return graph(call.app, call.tokens.access).get(video, {"fields": "status,permalink_url"})


def _path(call: AttemptContext) -> str:
    return f"{call.account.remote_id}/videos"


def _address(got: HttpSuccess) -> str | None:
    """Make the address whole: for videos it comes without its host."""
    url = got.text("permalink_url")
    return f"{HOST}{url}" if url and url.startswith("/") else url
