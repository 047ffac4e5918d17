"""A post as the AT Protocol stores it, made from one part of a message.

Only what the network knows goes in; the text is sent as it is. `createdAt` is the moment of the
attempt, in milliseconds and with a Z, as servers check.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cadenza.providers.base import AttemptContext
from cadenza.providers.bluesky.facets import facets
from cadenza.providers.message import MediaItem, MediaKind

COLLECTION = "app.bsky.feed.post"


def text_of(call: AttemptContext) -> str:
    """Return the text of the call's part."""
    return (call.message.text, *call.message.parts)[call.part]


def build(call: AttemptContext) -> dict[str, Any]:
    """Write the record of the call's part."""
    text = text_of(call)
    record: dict[str, Any] = {
        "$type": COLLECTION,
        "text": text,
        "createdAt": stamp(call.now),
    }
    found = facets(text, call.state.get("dids") or {})
    if found:
        record["facets"] = found
    languages = call.message.options.get("langs")
    if languages:
        record["langs"] = list(languages)
    embed = _embed(call) if call.part == 0 else None
    if embed:
        record["embed"] = embed
    if call.part > 0:
        record["reply"] = {
            "root": _reference(call, call.sent_parts[0]),
            "parent": _reference(call, call.sent_parts[-1]),
        }
    return record


def stamp(at: datetime) -> str:
    """Write an instant as the network does."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _reference(call: AttemptContext, uri: str) -> dict[str, str]:
    return {"uri": uri, "cid": call.state["cids"][uri]}


def _embed(call: AttemptContext) -> dict[str, Any] | None:
    blobs = call.state.get("blobs") or ()
    if blobs and call.message.media[0].kind is MediaKind.VIDEO:
        return _video(blobs[0], call.message.media[0])
    if blobs:
        pictures = [
            _shown({"image": dict(blob), "alt": item.alt}, item)
            for blob, item in zip(blobs, call.message.media, strict=True)
        ]
        return {"$type": "app.bsky.embed.images", "images": pictures}
    link = call.message.link
    if not link:
        return None
    options: Mapping[str, Any] = call.message.options
    card = {
        "uri": link,
        "title": str(options.get("link_title") or link),
        "description": str(options.get("link_description") or ""),
    }
    return {"$type": "app.bsky.embed.external", "external": card}


def _video(blob: Mapping[str, Any], item: MediaItem) -> dict[str, Any]:
    embed: dict[str, Any] = {"$type": "app.bsky.embed.video", "video": dict(blob)}
    if item.alt:
        embed["alt"] = item.alt
    return _shown(embed, item)


def _shown(embed: dict[str, Any], item: MediaItem) -> dict[str, Any]:
    """Say how wide and high it is, where that is known: readers keep its place free."""
    if item.width and item.height:
        embed["aspectRatio"] = {"width": item.width, "height": item.height}
    return embed
