"""What X takes in one post, by its own weighing of characters.

A premium account may write more: its length is kept in the account's settings under `characters`.
"""

from cadenza.providers import counting
from cadenza.providers.base import Problem
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message

CHARACTERS = 280
SETTING = "characters"  # in the account's settings
IMAGES = 4
ALT = 1_000
MIB = 1024 * 1024
BYTES = {MediaKind.IMAGE: 5 * MIB, MediaKind.GIF: 15 * MIB, MediaKind.VIDEO: 512 * MIB}
SECONDS = (0.5, 140.0)
TYPES = {
    MediaKind.IMAGE: ("image/jpeg", "image/png", "image/webp"),
    MediaKind.GIF: ("image/gif",),
    MediaKind.VIDEO: ("video/mp4", "video/quicktime"),
}
REPLIES = ("following", "mentionedUsers", "subscribers", "verified")


def characters(account: AccountRef) -> int:
    """Return how long this account may write."""
    kept = account.settings.get(SETTING)
    return kept if isinstance(kept, int) and kept > 0 else CHARACTERS


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that X would refuse."""
    most = characters(account)
    texts = (message.text, *message.parts)
    found = [_too_long(text, part, most) for part, text in enumerate(texts)]
    found += [_empty(message), _twins(texts), _replies(message), *_media(message)]
    return [problem for problem in found if problem is not None]


def _too_long(text: str, part: int, most: int) -> Problem | None:
    length = counting.x_weight(text)
    if length <= most:
        return None
    place = "The text" if part == 0 else f"Part {part + 1} of the thread"
    return Problem(
        "too_long",
        f"{place} weighs {length} as X counts; this account may write {most}. "
        f"Shorten it by {length - most}.",
        field="text" if part == 0 else "parts",
    )


def _empty(message: Message) -> Problem | None:
    empty_part = any(counting.is_blank(text) for text in message.parts)
    if empty_part or (counting.is_blank(message.text) and not message.media):
        return Problem("empty", "There is nothing to post: write a text or add a picture.")
    return None


def _twins(texts: tuple[str, ...]) -> Problem | None:
    if len({text.strip() for text in texts}) == len(texts):
        return None
    message = "Two parts of the thread say the same, which X refuses: change one."
    return Problem("duplicate_part", message, field="parts")


def _replies(message: Message) -> Problem | None:
    wanted = message.options.get("reply_settings")
    if wanted is None or wanted in REPLIES:
        return None
    detail = f"X knows these reply settings: {', '.join(REPLIES)}."
    return Problem("reply_settings", detail, field="options")


def _media(message: Message) -> list[Problem | None]:
    media = message.media
    found: list[Problem | None] = [_file(item) for item in media]
    still = all(item.kind is MediaKind.IMAGE for item in media)
    if still and len(media) > IMAGES:
        detail = f"X takes {IMAGES} pictures a post; there are {len(media)}."
        found.append(Problem("too_many_media", detail, field="media"))
    if not still and len(media) > 1:
        detail = "A video or a GIF must be alone in its post: take the other files out."
        found.append(Problem("mixed_media", detail, field="media"))
    return found


def _file(item: MediaItem) -> Problem | None:
    name = item.name or "A file"
    if item.mime not in TYPES.get(item.kind, ()):
        return Problem("media_kind", f"X does not take {name} ({item.mime}).", field="media")
    if item.size > BYTES[item.kind]:
        message = f"{name} has {item.size} bytes; X takes {BYTES[item.kind]}."
        return Problem("media_size", message, field="media")
    shortest, longest = SECONDS
    if item.seconds is not None and not shortest <= item.seconds <= longest:
        message = f"{name} is {item.seconds:g} seconds long; X takes {shortest:g} to {longest:g}."
        return Problem("media_length", message, field="media")
    if len(item.alt) > ALT:
        message = f"A description has {len(item.alt)} characters; X takes {ALT}."
        return Problem("alt_too_long", message, field="media")
    return None
