"""What should be sent to a webhook: something, and not much of it."""

from urllib.parse import urlsplit

from cadenza.providers.base import Problem
from cadenza.providers.counting import is_blank
from cadenza.providers.message import AccountRef, Message

ADVISED = 20_000  # bytes of a body


def problems(message: Message, account: AccountRef, size: int) -> list[Problem]:
    """Say what would fail, and what receivers may not like."""
    found: list[Problem] = []
    if is_blank(message.text) and not message.media:
        found.append(Problem("empty", "There is nothing to send: write a text or add a file."))
    if not account.settings.get("url"):
        found.append(Problem("no_url", "The account has no address: set it.", field="account"))
    found += _addresses(message)
    if size > ADVISED:
        detail = f"The message has {size} bytes; many receivers take {ADVISED} at most."
        found.append(Problem("large", detail, blocking=False))
    return found


def _addresses(message: Message) -> list[Problem]:
    """Receivers fetch files themselves: say so if they cannot, or only from near by."""
    if all(item.url for item in message.media):
        return []
    own = [item.own_url for item in message.media]
    if not all(own):
        detail = "Receivers fetch files themselves: this instance has no address for its media."
        return [Problem("media_url", detail, field="media")]
    host = urlsplit(own[0] or "").netloc
    detail = (
        f"The file's address is on {host}, which receivers elsewhere may not reach: "
        "set public_url to this instance's public address."
    )
    return [Problem("media_url", detail, field="media", blocking=False)]
