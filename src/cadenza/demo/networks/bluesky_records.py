"""What a Bluesky server demands of a post: known fields, real lengths, byte ranges, blobs that are there.

Each check returns the message of the refusal or None. Stricter than the original where a lenient
server would hide an adapter's mistake (unknown fields, byte offsets inside a character).
"""

import hashlib
import json
import re
from base64 import b32encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.providers import counting

COLLECTION = "app.bsky.feed.post"
TID = re.compile(r"[234567abcdefghij][234567a-z]{12}")
FIELDS = {"$type", "text", "createdAt", "langs", "facets", "embed", "reply", "tags"}
FEATURES = {
    "app.bsky.richtext.facet#link": "uri",
    "app.bsky.richtext.facet#mention": "did",
    "app.bsky.richtext.facet#tag": "tag",
}
IMAGE_BYTES = 2_000_000
VIDEO_BYTES = 100_000_000
EMBEDS = {"app.bsky.embed.images", "app.bsky.embed.external", "app.bsky.embed.video"}
VIDEO_FIELDS = {"$type", "video", "captions", "alt", "aspectRatio", "presentation"}
LANGUAGE = r"(i|[a-z]{2,3})(-[a-zA-Z0-9-]+)?"


@dataclass(slots=True)
class Blob:
    cid: str
    did: str
    mime: str
    size: int
    at: datetime
    used: bool = False


def cid_of(thing: Any) -> str:
    """Name content by its hash, in the look of the real thing."""
    data = thing if isinstance(thing, bytes) else json.dumps(thing, sort_keys=True).encode()
    digest = b32encode(hashlib.sha256(data).digest()).decode().lower().rstrip("=")
    return f"bafyrei{digest}"


def problem(record: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a post, blobs and parents left aside."""
    text = record.get("text")
    if record.get("$type") != COLLECTION or not isinstance(text, str):
        return "Record/text must be a string"
    unknown = sorted(set(record) - FIELDS)
    if unknown:
        return f"Record has unknown fields {unknown}"
    if counting.graphemes(text) > 300:
        return "Record/text must not be longer than 300 graphemes"
    if counting.utf8(text) > 3000:
        return "Record/text must not be longer than 3000 characters"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(record.get("createdAt"))):
        return "Record/createdAt must be an valid atproto datetime"
    if len(record.get("langs") or ()) > 3 or len(record.get("tags") or ()) > 8:
        return "Record/langs must not have more than 3 elements"
    if not all(re.fullmatch(LANGUAGE, str(each)) for each in record.get("langs") or ()):
        return "Record/langs/0 must be a well-formed BCP 47 language tag"
    return _facets(record.get("facets") or [], text.encode())


def images(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the pictures of a post."""
    embed = record.get("embed") or {}
    if embed.get("$type") == "app.bsky.embed.images":
        yield from embed.get("images", ())


def video(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the video of a post, if it has one."""
    embed = record.get("embed") or {}
    return embed if embed.get("$type") == "app.bsky.embed.video" else None


def blobs_in(record: Mapping[str, Any]) -> Iterator[str]:
    """Name the blobs that a post uses."""
    film = video(record)
    for holder in (
        *(picture.get("image") for picture in images(record)),
        (film or {}).get("video"),
    ):
        if holder:
            yield holder["ref"]["$link"]


def video_problem(record: Mapping[str, Any], blobs: Mapping[str, Blob], did: str) -> str | None:
    """Say what is wrong with the embed as such, and with a video in it."""
    embed = record.get("embed")
    if embed is not None and embed.get("$type") not in EMBEDS:
        return "Record/embed $type is not known"
    film = video(record)
    if film is None:
        return None
    if set(film) - VIDEO_FIELDS:
        return f"Record/embed has unknown fields {sorted(set(film) - VIDEO_FIELDS)}"
    alt = film.get("alt", "")
    if not isinstance(alt, str) or counting.graphemes(alt) > 1000 or counting.utf8(alt) > 10_000:
        return "Record/embed/alt must not be longer than 1000 graphemes"
    shape = film.get("aspectRatio")
    if shape is not None and not all(
        isinstance(shape.get(side), int) and shape[side] >= 1 for side in ("width", "height")
    ):
        return "Record/embed/aspectRatio must have width and height of at least 1"
    ref = ((film.get("video") or {}).get("ref") or {}).get("$link", "")
    blob = blobs.get(ref)
    if blob is None or blob.did != did:
        return "BlobNotFound"
    if blob.mime != "video/mp4" or film["video"].get("mimeType") != blob.mime:
        return f"Record/embed/video must be of type video/mp4, not {blob.mime}"
    if blob.size > VIDEO_BYTES or film["video"].get("size") != blob.size:
        return "Record/embed/video is too large"
    return None


def image_problem(record: Mapping[str, Any], blobs: Mapping[str, Blob], did: str) -> str | None:
    """Say what is wrong with the pictures; a missing blob is told apart by its name."""
    pictures = list(images(record))
    if len(pictures) > 4:
        return "Record/embed/images must not have more than 4 elements"
    for picture in pictures:
        if not isinstance(picture.get("alt"), str):
            return "Record/embed/images/0 must have the property alt"
        ref = ((picture.get("image") or {}).get("ref") or {}).get("$link", "")
        blob = blobs.get(ref)
        if blob is None or blob.did != did:
            return "BlobNotFound"
        if blob.size > IMAGE_BYTES or not blob.mime.startswith("image/"):
            return "Record/embed/images/0/image is too large or not an image"
    return None


def _facets(facets: list[Any], text: bytes) -> str | None:
    for facet in facets:
        index = facet.get("index") or {}
        start, end = index.get("byteStart"), index.get("byteEnd")
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end:
            return "Record/facets/0/index is wrong"
        if end > len(text) or _inside(text, start) or _inside(text, end):
            return "Record/facets/0/index does not fit the text"
        for feature in facet.get("features") or [{}]:
            wanted = FEATURES.get(feature.get("$type", ""))
            if wanted is None or not feature.get(wanted):
                return "Record/facets/0/features/0 is not a known feature"
    return None


def _inside(text: bytes, at: int) -> bool:
    """Say whether an offset cuts a character."""
    return at < len(text) and 0x80 <= text[at] < 0xC0
