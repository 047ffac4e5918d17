"""What a Facebook page takes. No page of Meta's gives the text's limit; products agree on 63,206."""

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import MediaItem, MediaKind, Message

CHARACTERS = 63_206
PHOTOS = 10  # as many as were seen to be taken
PHOTO_BYTES = 10_000_000
PHOTO_TYPES = ("image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff")
SHORTS = ("reel", "story")  # in the option `as`
VIDEO_TYPES = ("video/mp4", "video/quicktime")


def problems(message: Message) -> list[Problem]:
    """Say all that a page would refuse."""
    found = [_too_long(message), _empty(message), _thread(message), _link(message)]
    found += [*_together(message), *(_file(item) for item in message.media), *_short(message)]
    return [problem for problem in found if problem is not None]


def length(text: str) -> int:
    """Count by the stricter of two units: it is not known which one Facebook uses."""
    return max(counting.code_points(text), counting.utf16(text))


def _too_long(message: Message) -> Problem | None:
    over = length(message.text) - CHARACTERS
    if over <= 0:
        return None
    return Problem("too_long", f"Facebook takes {CHARACTERS} characters; shorten it by {over}.")


def _empty(message: Message) -> Problem | None:
    if not counting.is_blank(message.text) or message.media or message.link:
        return None
    return Problem("empty", "There is nothing to post: write a text or add a picture.")


def _thread(message: Message) -> Problem | None:
    if not message.parts:
        return None
    detail = "A page has no threads: put everything into one text."
    return Problem("no_threads", detail, field="parts")


def _link(message: Message) -> Problem | None:
    if not (message.link and message.media):
        return None
    detail = "Facebook shows a link's card or pictures, not both: put the link into the text."
    return Problem("link_and_media", detail, field="link")


def _together(message: Message) -> list[Problem | None]:
    videos = [item for item in message.media if item.kind is MediaKind.VIDEO]
    found: list[Problem | None] = []
    if videos and len(message.media) > 1:
        detail = "A video must be alone in its post: take the other files out."
        found.append(Problem("mixed_media", detail, field="media"))
    if len(message.media) > PHOTOS:
        detail = f"At most {PHOTOS} photos fit in a post; there are {len(message.media)}."
        found.append(Problem("too_many_media", detail, field="media"))
    return found


def _short(message: Message) -> list[Problem | None]:
    """Check what is asked to be a reel or a story."""
    wanted = message.options.get("as")
    if wanted is None:
        return []
    videos = [item for item in message.media if item.kind is MediaKind.VIDEO]
    alone = len(message.media) == 1
    checks = (
        (wanted not in SHORTS, "as", f"A post can be {' or '.join(SHORTS)}.", "options"),
        (wanted == "reel" and not (alone and videos), "reel", "A reel is one video.", "media"),
        (wanted == "story" and not alone, "story", "A story is one photo or one video.", "media"),
    )
    found: list[Problem | None] = [
        Problem(code, detail, field=field) for wrong, code, detail, field in checks if wrong
    ]
    if wanted == "story" and (not counting.is_blank(message.text) or message.first_comment):
        detail = "A story shows no text and takes no first comment: only its file goes out."
        found.append(Problem("story_text", detail, blocking=False))
    return found


def _file(item: MediaItem) -> Problem | None:
    name = item.name or "A file"
    types = VIDEO_TYPES if item.kind is MediaKind.VIDEO else PHOTO_TYPES
    if item.mime not in types:
        message = f"{name} is {item.mime}; Facebook takes {', '.join(types)}."
        return Problem("media_kind", message, field="media")
    if item.kind is not MediaKind.VIDEO and item.size > PHOTO_BYTES:
        message = f"{name} has {item.size} bytes; Facebook takes {PHOTO_BYTES} for a photo."
        return Problem("media_size", message, field="media")
    return None
