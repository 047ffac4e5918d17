"""What Threads takes: 500 characters, an emoji weighing its bytes; five links; up to twenty files.

Which characters count as emoji is not told; `counting.threads` says how it decides. A text whose bytes
are no more than 500 surely fits.
"""

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import MediaItem, MediaKind, Message

CHARACTERS = 500
LINKS = 5
FILES = 20
IMAGE_BYTES = 8_000_000
VIDEO_BYTES = 1_000_000_000
VIDEO_SECONDS = 300
PROPORTIONS = 10
IMAGE_TYPES = ("image/jpeg", "image/png")
VIDEO_TYPES = ("video/mp4", "video/quicktime")


def problems(message: Message) -> list[Problem]:
    """Say all that Threads would refuse."""
    texts = (message.text, *message.parts)
    found = [problem for part, text in enumerate(texts) for problem in _text(text, part)]
    found += [_empty(message), _link(message), _files(message)]
    found += [problem for item in message.media for problem in _file(item)]
    return [problem for problem in found if problem is not None]


def _text(text: str, part: int) -> list[Problem | None]:
    field = "text" if part == 0 else "parts"
    place = "The text" if part == 0 else f"Part {part + 1} of the thread"
    found: list[Problem | None] = []
    over = counting.threads(text) - CHARACTERS
    if over > 0:
        message = (
            f"{place} is {over} too long: Threads takes {CHARACTERS}, an emoji counts several."
        )
        found.append(Problem("too_long", message, field=field))
    links = set(counting.URL.findall(text))
    if len(links) > LINKS:
        message = f"{place} has {len(links)} different links; Threads takes {LINKS}."
        found.append(Problem("too_many_links", message, field=field))
    return found


def _empty(message: Message) -> Problem | None:
    empty_part = any(counting.is_blank(text) for text in message.parts)
    if empty_part or (counting.is_blank(message.text) and not message.media):
        return Problem("empty", "There is nothing to post: write a text or add a picture.")
    return None


def _link(message: Message) -> Problem | None:
    if not (message.link and message.media):
        return None
    detail = "Threads shows a link's card on texts only: put the link into the text."
    return Problem("link_and_media", detail, field="link")


def _files(message: Message) -> Problem | None:
    if len(message.media) <= FILES:
        return None
    detail = f"At most {FILES} files fit in a post; there are {len(message.media)}."
    return Problem("too_many_media", detail, field="media")


def _file(item: MediaItem) -> list[Problem | None]:
    moving = item.kind is MediaKind.VIDEO
    types = VIDEO_TYPES if moving else IMAGE_TYPES
    most = VIDEO_BYTES if moving else IMAGE_BYTES
    name = item.name or "A file"
    sides = sorted((item.width or 1, item.height or 1))
    known = bool(item.width and item.height)
    checks = (
        (
            not item.url,
            "media_url",
            "Threads fetches files itself: this instance needs a public address for its media.",
        ),
        (item.mime not in types, "media_kind", f"{name} is {item.mime}; not taken by Threads."),
        (item.size > most, "media_size", f"{name} has {item.size} bytes; {most} are taken."),
        (
            moving and (item.seconds or 0) > VIDEO_SECONDS,
            "media_seconds",
            f"{name} is longer than {VIDEO_SECONDS} seconds.",
        ),
        (
            known and not moving and sides[1] > PROPORTIONS * sides[0],
            "media_proportions",
            f"{name} is more than {PROPORTIONS} times as long as wide.",
        ),
    )
    return [Problem(code, message, field="media") for wrong, code, message in checks if wrong]
