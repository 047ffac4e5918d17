"""What a Mastodon server takes: every instance configures its own lengths, so they are asked for.

They are asked for once, when an account is connected, and kept in its settings. What an instance does not say
is what Mastodon ships with.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message

SETTING = "limits"  # in the account's settings
VISIBILITIES = ("public", "unlisted", "private", "direct")


@dataclass(frozen=True, slots=True)
class Limits:
    """One instance's limits."""

    characters: int = 500
    media: int = 4
    url_length: int = 23
    image_bytes: int = 16 * 1024 * 1024
    video_bytes: int = 99 * 1024 * 1024
    alt: int = 10_000


# Where each stands in the instance's answer.
_PLACES = {
    "characters": ("statuses", "max_characters"),
    "media": ("statuses", "max_media_attachments"),
    "url_length": ("statuses", "characters_reserved_per_url"),
    "image_bytes": ("media_attachments", "image_size_limit"),
    "video_bytes": ("media_attachments", "video_size_limit"),
    "alt": ("media_attachments", "description_limit"),
}


def from_instance(instance: Any) -> Limits:
    """Read limits from an instance's answer, whatever is missing in it."""
    found: dict[str, int] = {}
    for name, (group, key) in _PLACES.items():
        value = instance
        for step in ("configuration", group, key):
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, int) and value > 0:
            found[name] = value
    own = instance.get("max_toot_chars") if isinstance(instance, dict) else None
    if isinstance(own, int) and own > 0:  # as Pleroma and its kin say it
        found.setdefault("characters", own)
    return Limits(**found)


def to_settings(limits: Limits) -> dict[str, int]:
    """Write limits as settings of an account."""
    return asdict(limits)


def of_account(account: AccountRef) -> Limits:
    """Read the limits that were kept for an account."""
    kept: Mapping[str, Any] = account.settings.get(SETTING) or {}
    names = {each.name for each in fields(Limits)}
    return Limits(**{k: v for k, v in kept.items() if k in names and isinstance(v, int)})


def problems(message: Message, limits: Limits) -> list[Problem]:
    """Say all that the instance would refuse."""
    found = [_too_long(text, part, message, limits) for part, text in enumerate(_texts(message))]
    found += [_empty(message), _visibility(message), *_media(message, limits)]
    return [problem for problem in found if problem is not None]


def _texts(message: Message) -> tuple[str, ...]:
    return (message.text, *message.parts)


def _too_long(text: str, part: int, message: Message, limits: Limits) -> Problem | None:
    warning = str(message.options.get("spoiler_text") or "")
    length = counting.mastodon(warning + text, url_length=limits.url_length)
    if length <= limits.characters:
        return None
    place = "The text" if part == 0 else f"Part {part + 1} of the thread"
    return Problem(
        "too_long",
        f"{place} has {length} characters as Mastodon counts them; this server takes "
        f"{limits.characters}. Shorten it by {length - limits.characters}.",
        field="text" if part == 0 else "parts",
    )


def _empty(message: Message) -> Problem | None:
    empty_part = any(counting.is_blank(text) for text in message.parts)
    if empty_part or (counting.is_blank(message.text) and not message.media):
        return Problem("empty", "There is nothing to post: write a text or add a picture.")
    return None


def _visibility(message: Message) -> Problem | None:
    if message.options.get("visibility") in {None, "", *VISIBILITIES}:
        return None
    detail = f"Mastodon knows these visibilities: {', '.join(VISIBILITIES)}."
    return Problem("visibility", detail, field="options")


def _media(message: Message, limits: Limits) -> list[Problem | None]:
    media = message.media
    moving = [item for item in media if item.kind is MediaKind.VIDEO]
    found: list[Problem | None] = [_file(item, limits) for item in media]
    if len(media) > limits.media:
        detail = f"This server takes {limits.media} files a post; there are {len(media)}."
        found.append(Problem("too_many_media", detail, field="media"))
    if moving and len(media) > 1:
        detail = "A video must be alone in its post: take the other files out."
        found.append(Problem("mixed_media", detail, field="media"))
    return found


def _file(item: MediaItem, limits: Limits) -> Problem | None:
    if item.kind is MediaKind.DOCUMENT:
        return Problem("media_kind", f"Mastodon takes no documents ({item.name}).", field="media")
    most = limits.video_bytes if item.kind is MediaKind.VIDEO else limits.image_bytes
    if item.size > most:
        message = f"{item.name or 'A file'} has {item.size} bytes; this server takes {most}."
        return Problem("media_size", message, field="media")
    if len(item.alt) > limits.alt:
        message = f"A description has {len(item.alt)} characters; this server takes {limits.alt}."
        return Problem("alt_too_long", message, field="media")
    return None
