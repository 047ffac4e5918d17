"""What LinkedIn takes in one post: one kind of media, and a text that is counted after escaping.

Whether LinkedIn counts the escapes is not documented, so the stricter reading is held.
"""

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.first_comment import left_out
from cadenza.providers.linkedin.little import commentary
from cadenza.providers.message import MediaItem, MediaKind, Message

CHARACTERS = 3_000
IMAGES = 20
ALT = 4_086
PIXELS = 36_152_320
VIDEO_BYTES = (75_000, 500_000_000)
VIDEO_SECONDS = (3.0, 1_800.0)
DOCUMENT_BYTES = 100_000_000
VISIBILITIES = ("PUBLIC", "CONNECTIONS", "LOGGED_IN")
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif")
DOCUMENT_TYPES = (
    "application/pdf",
    "application/msword",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
)


def problems(message: Message) -> list[Problem]:
    """Say all that LinkedIn would refuse."""
    found = [_too_long(message), _empty(message), *_rest(message), _mixed(message)]
    found += [_file(item) for item in message.media]
    return [problem for problem in found if problem is not None]


def _too_long(message: Message) -> Problem | None:
    length = len(commentary(message.text))
    if length <= CHARACTERS:
        return None
    return Problem(
        "too_long",
        f"The text has {length} characters as LinkedIn counts them; it takes {CHARACTERS}. "
        f"Shorten it by {length - CHARACTERS}.",
    )


def _empty(message: Message) -> Problem | None:
    if not counting.is_blank(message.text) or message.media or message.link:
        return None
    return Problem("empty", "There is nothing to post: write a text or add a picture.")


def _rest(message: Message) -> list[Problem]:
    found: list[Problem] = []
    if message.parts:
        detail = "LinkedIn has no threads: put all in one text."
        found.append(Problem("threads", detail, field="parts"))
    if message.options.get("visibility", "PUBLIC") not in VISIBILITIES:
        detail = f"LinkedIn knows these visibilities: {', '.join(VISIBILITIES)}."
        found.append(Problem("visibility", detail, field="options"))
    if message.link and message.media:
        detail = "LinkedIn shows media or a link's card, not both; the link's card is left out."
        found.append(Problem("link_left_out", detail, field="link", blocking=False))
    return [*found, *left_out(message, "LinkedIn")]


def _mixed(message: Message) -> Problem | None:
    media = message.media
    pictures = [item for item in media if item.kind in {MediaKind.IMAGE, MediaKind.GIF}]
    if len(pictures) == len(media):
        if len(media) <= IMAGES:
            return None
        detail = f"LinkedIn takes {IMAGES} pictures a post; there are {len(media)}."
        return Problem("too_many_media", detail, field="media")
    if len(media) == 1:
        return None
    detail = "A video or a document must be alone in its post: take the other files out."
    return Problem("mixed_media", detail, field="media")


def _file(item: MediaItem) -> Problem | None:
    if len(item.alt) > ALT:
        message = f"A description has {len(item.alt)} characters; LinkedIn takes {ALT}."
        return Problem("alt_too_long", message, field="media")
    match item.kind:
        case MediaKind.VIDEO:
            return _video(item)
        case MediaKind.DOCUMENT:
            return _document(item)
        case _:
            return _image(item)


def _image(item: MediaItem) -> Problem | None:
    name = item.name or "A picture"
    if item.mime not in IMAGE_TYPES:
        return Problem("media_kind", f"{name}: LinkedIn takes JPEG, PNG and GIF.", field="media")
    if item.width and item.height and item.width * item.height >= PIXELS:
        message = f"{name} has {item.width * item.height} pixels; it must have fewer than {PIXELS}."
        return Problem("media_size", message, field="media")
    return None


def _video(item: MediaItem) -> Problem | None:
    name = item.name or "A video"
    if item.mime != "video/mp4":
        return Problem("media_kind", f"{name}: LinkedIn takes videos as MP4.", field="media")
    least, most = VIDEO_BYTES
    if not least <= item.size <= most:
        message = f"{name} has {item.size} bytes; LinkedIn takes {least} to {most}."
        return Problem("media_size", message, field="media")
    shortest, longest = VIDEO_SECONDS
    if item.seconds is not None and not shortest <= item.seconds <= longest:
        message = (
            f"{name} is {item.seconds:g} seconds long; LinkedIn takes 3 seconds to 30 minutes."
        )
        return Problem("media_length", message, field="media")
    return None


def _document(item: MediaItem) -> Problem | None:
    name = item.name or "A document"
    if item.mime not in DOCUMENT_TYPES:
        return Problem("media_kind", f"{name}: LinkedIn takes PDF, Word and PowerPoint.", "media")
    if item.size > DOCUMENT_BYTES:
        message = f"{name} has {item.size} bytes; LinkedIn takes {DOCUMENT_BYTES}."
        return Problem("media_size", message, field="media")
    return None
