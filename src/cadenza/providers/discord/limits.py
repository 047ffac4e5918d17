"""What a Discord webhook takes. Length is counted in UTF-16 units, the strictest of its clients."""

from cadenza.providers.base import Problem
from cadenza.providers.counting import is_blank, utf16
from cadenza.providers.message import Message

CHARACTERS = 2_000
FILES = 10
FILE_BYTES = 10 * 1024 * 1024
ALL_BYTES = 25 * 1024 * 1024
ALT = 1_024
NAME = 80


def problems(message: Message) -> list[Problem]:
    """Say all that Discord would refuse."""
    found: list[Problem] = []
    length = utf16(message.text)
    if length > CHARACTERS:
        detail = (
            f"The text has {length} characters; Discord takes {CHARACTERS}. "
            f"Shorten it by {length - CHARACTERS}."
        )
        found.append(Problem("too_long", detail))
    if is_blank(message.text) and not message.media:
        found.append(Problem("empty", "There is nothing to post: write a text or add a file."))
    if message.parts:
        detail = "A webhook cannot answer its own message: put all in one text."
        found.append(Problem("threads", detail, field="parts"))
    name = str(message.options.get("username") or "")
    if len(name) > NAME or "discord" in name.casefold():
        detail = f"The name must have at most {NAME} characters and not say Discord."
        found.append(Problem("username", detail, field="options"))
    return found + _media(message)


def _media(message: Message) -> list[Problem]:
    found: list[Problem] = []
    if len(message.media) > FILES:
        detail = f"Discord takes {FILES} files a message; there are {len(message.media)}."
        found.append(Problem("too_many_media", detail, field="media"))
    if sum(item.size for item in message.media) > ALL_BYTES:
        detail = f"The files have more than {ALL_BYTES} bytes together."
        found.append(Problem("media_size", detail, field="media"))
    for item in message.media:
        if item.size > FILE_BYTES:
            detail = f"{item.name or 'A file'} has {item.size} bytes; Discord takes {FILE_BYTES}."
            found.append(Problem("media_size", detail, field="media"))
        if len(item.alt) > ALT:
            detail = f"A description has {len(item.alt)} characters; Discord takes {ALT}."
            found.append(Problem("alt_too_long", detail, field="media"))
    return found
