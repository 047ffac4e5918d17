"""What should be sent to a webhook: something, and not much of it."""

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
    if size > ADVISED:
        says = f"The message has {size} bytes; many receivers take {ADVISED} at most."
        found.append(Problem("large", says, blocking=False))
    return found
