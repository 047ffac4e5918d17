"""What Bluesky takes, as its lexicon says: 300 graphemes and 3 000 bytes, four pictures of 2 MB or one video.

Limit: a server may take smaller files than the lexicon allows (5 MB unless its owner sets more, 50 MB on
Bluesky's own); what is too large for it is refused while it is uploaded.
"""

import re

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import MediaItem, MediaKind, Message

GRAPHEMES = 300
BYTES = 3000
IMAGES = 4
IMAGE_BYTES = 2_000_000
VIDEO_BYTES = 100_000_000
VIDEO_TYPE = "video/mp4"
VIDEO_ALT, VIDEO_ALT_BYTES = 1_000, 10_000  # graphemes; pictures have no limit
USUAL_BYTES = 50_000_000  # of one upload, on Bluesky's own servers
LANGUAGES = 3
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


def problems(message: Message) -> list[Problem]:
    """Say all that the server would refuse."""
    texts = (message.text, *message.parts)
    found = [_too_long(text, part) for part, text in enumerate(texts)]
    found += [_empty(message), _languages(message), _too_many(message)]
    found += [_file(item) for item in message.media]
    return [problem for problem in found if problem is not None]


def _too_long(text: str, part: int) -> Problem | None:
    length, size = counting.graphemes(text), counting.utf8(text)
    if length <= GRAPHEMES and size <= BYTES:
        return None
    place = "The text" if part == 0 else f"Part {part + 1} of the thread"
    message = (
        f"{place} has {length} characters and {size} bytes; Bluesky takes {GRAPHEMES} and {BYTES}."
    )
    return Problem("too_long", message, field="text" if part == 0 else "parts")


def _empty(message: Message) -> Problem | None:
    empty_part = any(counting.is_blank(text) for text in message.parts)
    if empty_part or (counting.is_blank(message.text) and not message.media):
        return Problem("empty", "There is nothing to post: write a text or add a picture.")
    return None


def _languages(message: Message) -> Problem | None:
    given = message.options.get("langs") or []
    known = isinstance(given, list) and all(_LANGUAGE.fullmatch(str(each)) for each in given)
    if known and len(given) <= LANGUAGES:
        return None
    detail = f"Bluesky takes a list of at most {LANGUAGES} languages, such as en or pt-BR."
    return Problem("langs", detail, field="options")


def _too_many(message: Message) -> Problem | None:
    if any(item.kind is MediaKind.VIDEO for item in message.media) and len(message.media) > 1:
        detail = "A video must be alone in its post: take the other files out."
        return Problem("mixed_media", detail, field="media")
    if len(message.media) <= IMAGES:
        return None
    detail = f"Bluesky takes {IMAGES} pictures a post; there are {len(message.media)}."
    return Problem("too_many_media", detail, field="media")


def _file(item: MediaItem) -> Problem | None:
    match item.kind:
        case MediaKind.VIDEO:
            return _video(item)
        case MediaKind.DOCUMENT:
            message = f"Bluesky takes pictures and videos; take out {item.name or 'the file'}."
            return Problem("media_kind", message, field="media")
        case _:
            return _picture(item)


def _picture(item: MediaItem) -> Problem | None:
    name = item.name or "A picture"
    if item.size > IMAGE_BYTES:
        message = f"{name} has {item.size} bytes; Bluesky takes {IMAGE_BYTES}."
        return Problem("media_size", message, field="media")
    if item.seconds is not None:
        message = f"{name} moves, but Bluesky shows it as a still picture: upload it as MP4."
        return Problem("stands_still", message, field="media", blocking=False)
    return None


def _video(item: MediaItem) -> Problem | None:
    name = item.name or "A video"
    if item.mime != VIDEO_TYPE:
        return Problem("media_kind", f"{name}: Bluesky takes videos as MP4.", field="media")
    if item.size > VIDEO_BYTES:
        message = f"{name} has {item.size} bytes; Bluesky takes {VIDEO_BYTES}."
        return Problem("media_size", message, field="media")
    if counting.graphemes(item.alt) > VIDEO_ALT or counting.utf8(item.alt) > VIDEO_ALT_BYTES:
        message = f"A video's description may have {VIDEO_ALT} characters on Bluesky."
        return Problem("alt_too_long", message, field="media")
    if item.size > USUAL_BYTES:
        message = f"{name} has {item.size} bytes; many Bluesky servers take {USUAL_BYTES} at most."
        return Problem("media_large", message, field="media", blocking=False)
    return None
