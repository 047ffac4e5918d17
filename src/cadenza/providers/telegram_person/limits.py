"""What a person may send: 4 096 characters, 1 024 below a file, one file a message.

Counted in code points, as Telegram's servers do. Limit: texts go as they are, without markup, and
albums are not sent.
"""

from cadenza.providers.base import Problem
from cadenza.providers.counting import code_points, is_blank
from cadenza.providers.message import AccountRef, Message

TEXT = 4096
CAPTION = 1024
FILES = 1
FILE_BYTES = 2_000_000_000
PHOTO_BYTES = 10_000_000


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that Telegram would refuse."""
    found = [_text(text, part, message) for part, text in enumerate((message.text, *message.parts))]
    if len(message.media) > FILES:
        found.append(Problem("too_many_media", "One file goes with a message.", field="media"))
    if any(item.size > FILE_BYTES for item in message.media):
        found.append(Problem("media_size", "A file may have 2 GB.", field="media"))
    if not whereto(message, account):
        detail = "Nobody is named: choose a recipient, or set the account's chat."
        found.append(Problem("no_chat", detail, field="recipient"))
    elif not reachable(whereto(message, account)):
        detail = "Name the chat as @name, a telephone number with +, or me."
        found.append(Problem("chat", detail, field="recipient"))
    return [problem for problem in found if problem is not None]


def whereto(message: Message, account: AccountRef) -> str:
    """Return whom the message goes to."""
    if message.recipient is not None:
        return message.recipient.address.strip()
    return str(account.settings.get("chat") or "").strip()


def reachable(name: str) -> bool:
    """Say whether a name can be looked up: numbers of chats cannot, without their keys."""
    digits = name.removeprefix("+").replace(" ", "")
    return name == "me" or name.startswith("@") or (name.startswith("+") and digits.isdecimal())


def _text(text: str, part: int, message: Message) -> Problem | None:
    below = part == 0 and bool(message.media)
    field = "text" if part == 0 else "parts"
    if is_blank(text) and not below:
        return Problem("empty", "There is nothing to send: write a text.", field=field)
    most = CAPTION if below else TEXT
    over = code_points(text) - most
    if over <= 0:
        return None
    detail = f"Telegram takes {most} characters here; shorten the text by {over}."
    return Problem("too_long", detail, field=field)
