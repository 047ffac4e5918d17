"""What a bot may send: lengths after the markup is read, kinds and sizes of files, albums.

Telegram counts code points of what people will see, not of the markup. A text with files stands below
them and is shorter. Limit: an own Bot API server takes larger files; the account's setting
`file_bytes` says so.
"""

from cadenza.providers.base import Problem
from cadenza.providers.counting import code_points, is_blank, utf8
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message
from cadenza.providers.telegram.markup import HTML, MODES, BadMarkup, parse

TEXT = 4096
CAPTION = 1024
RAW_BYTES = 32_768
ALBUM = 10
MB = 1024 * 1024
PHOTO_BYTES = 10 * MB
FILE_BYTES = 50 * MB
PHOTO_SIDES = 10_000  # width and height together
PHOTO_RATIO = 20
LONGEST_NUMBER = 10  # digits of a message's or topic's number


def mode_of(message: Message) -> str | None:
    """Return the markup that the text is written in; None is plain text."""
    given = message.options.get("parse_mode")
    if given is not None:
        return str(given)
    return HTML if message.html is not None else None


def topic_of(message: Message) -> int | None:
    """Return the number of the topic that the message belongs to, if one can be read."""
    given = str(message.options.get("topic") or "").strip()
    return int(given) if given.isdecimal() and len(given) <= LONGEST_NUMBER else None


def texts_of(message: Message) -> tuple[str, ...]:
    """Return the texts of all parts as they are sent."""
    first = message.html if message.html is not None else message.text
    return (first, *message.parts)


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that Telegram would refuse."""
    found: list[Problem | None] = [
        _text(text, part, message) for part, text in enumerate(texts_of(message))
    ]
    found += [_whereto(message, account), wrong_topic(message), _album(message)]
    found += [_file(item, account) for item in message.media]
    return [problem for problem in found if problem is not None]


def _text(text: str, part: int, message: Message) -> Problem | None:
    field = "text" if part == 0 else "parts"
    mode = mode_of(message)
    if mode is not None and mode not in MODES:
        detail = f"{mode} is no markup that we send; use {' or '.join(MODES)}."
        return Problem("markup", detail, field="options")
    try:
        seen = parse(text, mode)
    except BadMarkup as wrong:
        detail = f"Telegram cannot read the markup ({wrong}). Correct it or send plain text."
        return Problem("markup", detail, field=field)
    below_files = part == 0 and bool(message.media)
    if is_blank(seen) and not below_files:
        return Problem(
            "empty", "There is nothing to send: write a text or add a file.", field=field
        )
    most = CAPTION if below_files else TEXT
    length = code_points(seen.strip())
    if length > most:
        place = "below a file" if below_files else "in a message"
        detail = (
            f"The text has {length} characters; Telegram takes {most} {place}. "
            f"Shorten it by {length - most}."
        )
        return Problem("too_long", detail, field=field)
    if utf8(text) > RAW_BYTES:
        return Problem("too_long", "The text with its markup is too long.", field=field)
    return None


def _whereto(message: Message, account: AccountRef) -> Problem | None:
    if message.recipient is not None or account.settings.get("chat_id"):
        return None
    detail = "No chat is named: choose a recipient, or connect the bot to a channel."
    return Problem("no_chat", detail, field="recipient")


def wrong_topic(message: Message) -> Problem | None:
    """Say so if a topic is named and is no number."""
    if not message.options.get("topic") or topic_of(message) is not None:
        return None
    detail = "A topic is named by its number, the last in the address of one of its messages."
    return Problem("topic", detail, field="options")


def _album(message: Message) -> Problem | None:
    media = message.media
    if len(media) <= 1:
        return None
    if len(media) > ALBUM:
        detail = f"An album holds {ALBUM} files; there are {len(media)}."
        return Problem("too_many_media", detail, field="media")
    kinds = {item.kind for item in media}
    if MediaKind.GIF in kinds:
        return Problem("mixed_media", "A GIF must be alone in its message.", field="media")
    if MediaKind.DOCUMENT in kinds and len(kinds) > 1:
        detail = "Documents cannot stand in one album with pictures or videos."
        return Problem("mixed_media", detail, field="media")
    return None


def _file(item: MediaItem, account: AccountRef) -> Problem | None:
    own = account.settings.get("file_bytes")
    most = own if isinstance(own, int) else FILE_BYTES
    if item.kind is MediaKind.IMAGE:
        most = PHOTO_BYTES
    name = item.name or "A file"
    if item.size > most:
        message = f"{name} has {item.size} bytes; Telegram takes {most} of its kind."
        return Problem("media_size", message, field="media")
    if item.kind is MediaKind.IMAGE and item.width and item.height:
        sides = sorted((item.width, item.height))
        if sum(sides) > PHOTO_SIDES or sides[1] > PHOTO_RATIO * sides[0]:
            message = (
                f"{name} is {item.width} by {item.height}: too large or too narrow for Telegram."
            )
            return Problem("media_shape", message, field="media")
    return None
