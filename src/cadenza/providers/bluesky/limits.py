"""What Bluesky takes: 300 graphemes and 3 000 bytes, four pictures of a megabyte each.

The server's own limit for pictures is 2 MB on new servers and 1 MB on older ones; the lower one is
kept, so that a post does not depend on whose server it is. Films are not sent yet.
"""

import re

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import MediaItem, MediaKind, Message

GRAPHEMES = 300
BYTES = 3000
IMAGES = 4
IMAGE_BYTES = 1_000_000
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
    says = (
        f"{place} has {length} characters and {size} bytes; Bluesky takes {GRAPHEMES} and {BYTES}."
    )
    return Problem("too_long", says, field="text" if part == 0 else "parts")


def _empty(message: Message) -> Problem | None:
    empty_part = any(not text.strip() for text in message.parts)
    if empty_part or (not message.text.strip() and not message.media):
        return Problem("empty", "There is nothing to post: write a text or add a picture.")
    return None


def _languages(message: Message) -> Problem | None:
    given = message.options.get("langs") or []
    known = isinstance(given, list) and all(_LANGUAGE.fullmatch(str(each)) for each in given)
    if known and len(given) <= LANGUAGES:
        return None
    says = f"Bluesky takes a list of at most {LANGUAGES} languages, such as en or pt-BR."
    return Problem("langs", says, field="options")


def _too_many(message: Message) -> Problem | None:
    if len(message.media) <= IMAGES:
        return None
    says = f"Bluesky takes {IMAGES} pictures a post; there are {len(message.media)}."
    return Problem("too_many_media", says, field="media")


def _file(item: MediaItem) -> Problem | None:
    if item.kind not in {MediaKind.IMAGE, MediaKind.GIF}:
        says = f"Only pictures are sent to Bluesky; take out {item.name or 'the file'}."
        return Problem("media_kind", says, field="media")
    if item.size > IMAGE_BYTES:
        says = f"{item.name or 'A picture'} has {item.size} bytes; Bluesky takes {IMAGE_BYTES}."
        return Problem("media_size", says, field="media")
    return None
