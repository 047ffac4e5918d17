"""What a Slack hook takes: text and pictures that Slack can fetch; no files, no threads."""

from cadenza.providers.base import Problem
from cadenza.providers.counting import is_blank
from cadenza.providers.message import MediaKind, Message

CHARACTERS = 40_000
BESIDE_PICTURES = 3_000  # a section of a message that is made of blocks
PICTURES = 49  # of 50 blocks, one is the text
ALT = 2_000


def escape(text: str) -> str:
    """Write the three signs that Slack reads as its own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def problems(message: Message) -> list[Problem]:
    """Say all that Slack would refuse."""
    found: list[Problem] = []
    most = BESIDE_PICTURES if message.media else CHARACTERS
    length = len(escape(message.text))
    if length > most:
        detail = f"The text has {length} characters; Slack takes {most}. Shorten it."
        found.append(Problem("too_long", detail))
    if is_blank(message.text):
        found.append(Problem("empty", "There is nothing to post: write a text."))
    if message.parts:
        detail = "A hook cannot answer its own message: put all in one text."
        found.append(Problem("threads", detail, field="parts"))
    return found + _media(message)


def _media(message: Message) -> list[Problem]:
    found: list[Problem] = []
    if len(message.media) > PICTURES:
        detail = f"Slack takes {PICTURES} pictures a message; there are {len(message.media)}."
        found.append(Problem("too_many_media", detail, field="media"))
    for item in message.media:
        if item.kind not in {MediaKind.IMAGE, MediaKind.GIF}:
            detail = f"A hook takes pictures only, not {item.name or item.mime}."
            found.append(Problem("media_kind", detail, field="media"))
        elif item.url is None:
            detail = (
                "Slack fetches pictures itself: this instance needs a public address for its media."
            )
            found.append(Problem("media_url", detail, field="media"))
        elif len(item.alt) > ALT:
            detail = f"A description has {len(item.alt)} characters; Slack takes {ALT}."
            found.append(Problem("alt_too_long", detail, field="media"))
    return found
