"""What Instagram takes: JPEG pictures in certain proportions, short films, 2,200 characters.

The unit of the caption's limit is not told, so the stricter of two is used. Sizes that are not known
here (width, length in seconds) are left to the network.
"""

import re

from cadenza.core.channels import Channel
from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.first_comment import left_out
from cadenza.providers.instagram.options import listed
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import MediaItem, MediaKind, Message

CAPTION = 2200
HASHTAGS = 30
MENTIONS = 20
CAROUSEL = 10
ALT = 1000
COLLABORATORS = 3
IMAGE_BYTES = 8_000_000
NARROWEST, WIDEST = 4 / 5, 1.91
REEL_BYTES, REEL_SECONDS = 300_000_000, (3, 900)
STORY_BYTES, STORY_SECONDS = 100_000_000, (3, 60)
VIDEO_TYPES = ("video/mp4", "video/quicktime")
_HASHTAG = re.compile(r"(?<![\w#])#\w+")
_MENTION = re.compile(r"(?<![\w@])@\w")


def problems(message: Message) -> list[Problem]:
    """Say all that Instagram would refuse."""
    story = message.channel is Channel.INSTAGRAM_STORY
    found = [*(_story(message) if story else _feed(message)), _thread(message)]
    found.append(None if story else _collaborators(message))
    for item in message.media:
        found += [_address(item), _alt(item), _kind(item)]
        found += (
            _film(item, story=story) if item.kind is MediaKind.VIDEO else [_picture(item, story)]
        )
    told = [problem for problem in found if problem is not None]
    return [*told, *unseen_link(message, "Instagram")]


def caption_length(text: str) -> int:
    """Count by the stricter of two units."""
    return max(counting.code_points(text), counting.utf16(text))


def _feed(message: Message) -> list[Problem | None]:
    text, files = message.text, len(message.media)
    over = caption_length(text) - CAPTION
    counts = (len(_HASHTAG.findall(text)), len(_MENTION.findall(text)))
    checks = (
        (files == 0, "no_media", "Instagram posts need a picture or a video.", "media"),
        (files > CAROUSEL, "too_many_media", f"At most {CAROUSEL} files fit in a post.", "media"),
        (
            over > 0,
            "too_long",
            f"Captions have {CAPTION} characters; shorten it by {over}.",
            "text",
        ),
        (counts[0] > HASHTAGS, "hashtags", f"At most {HASHTAGS} hashtags are taken.", "text"),
        (counts[1] > MENTIONS, "mentions", f"At most {MENTIONS} mentions are taken.", "text"),
    )
    return [Problem(code, detail, field=field) for wrong, code, detail, field in checks if wrong]


def _story(message: Message) -> list[Problem | None]:
    found: list[Problem | None] = []
    if len(message.media) != 1:
        detail = "A story is one picture or one video."
        found.append(Problem("story_media", detail, field="media"))
    if not counting.is_blank(message.text):
        detail = "A story shows no text: only the picture or video goes out."
        found.append(Problem("story_text", detail, blocking=False))
    if any(item.alt for item in message.media):
        detail = "Instagram takes no description of a story's picture: it is left out."
        found.append(Problem("story_alt", detail, field="media", blocking=False))
    return [*found, *left_out(message, "Instagram's stories", "use a post in the feed")]


def _collaborators(message: Message) -> Problem | None:
    if len(listed(message.options.get("collaborators"))) <= COLLABORATORS:
        return None
    detail = f"At most {COLLABORATORS} collaborators can be invited."
    return Problem("collaborators", detail, field="options")


def _thread(message: Message) -> Problem | None:
    if not message.parts:
        return None
    return Problem("no_threads", "Instagram has no threads: use one caption.", field="parts")


def _address(item: MediaItem) -> Problem | None:
    if item.url or item.kind is MediaKind.VIDEO:  # a video can be sent as bytes
        return None
    message = (
        "Instagram fetches pictures itself: this instance needs a public address for its media."
    )
    return Problem("media_url", message, field="media")


def _alt(item: MediaItem) -> Problem | None:
    if len(item.alt) <= ALT:
        return None
    return Problem("alt_too_long", f"A description may have {ALT} characters.", field="media")


def _kind(item: MediaItem) -> Problem | None:
    types = VIDEO_TYPES if item.kind is MediaKind.VIDEO else ("image/jpeg",)
    if item.mime in types:
        return None
    message = f"{item.name or 'A file'} is {item.mime}; Instagram takes {', '.join(types)}."
    return Problem("media_kind", message, field="media")


def _picture(item: MediaItem, story: bool) -> Problem | None:  # noqa: FBT001 - a fact, not a switch
    name = item.name or "A picture"
    if item.size > IMAGE_BYTES:
        message = f"{name} has {item.size} bytes; Instagram takes {IMAGE_BYTES}."
        return Problem("media_size", message, field="media")
    if story or not (item.width and item.height):
        return None
    if not NARROWEST - 0.01 <= item.width / item.height <= WIDEST + 0.01:
        message = f"{name} is {item.width}×{item.height}; between 4:5 and 1.91:1 is taken."
        return Problem("media_proportions", message, field="media")
    return None


def _film(item: MediaItem, *, story: bool) -> list[Problem | None]:
    most, (shortest, longest) = (
        (STORY_BYTES, STORY_SECONDS) if story else (REEL_BYTES, REEL_SECONDS)
    )
    found: list[Problem | None] = []
    if item.size > most:
        message = f"The video has {item.size} bytes; {most} are taken here."
        found.append(Problem("media_size", message, field="media"))
    if item.seconds is not None and not shortest <= item.seconds <= longest:
        message = f"The video lasts {item.seconds:g} s; {shortest} to {longest} s are taken here."
        found.append(Problem("media_seconds", message, field="media"))
    return found
