"""What can be a mail: an address to send to, a subject, a body, a size that servers take.

Addresses are checked for what would break the dialogue, not for whether they exist; the server says
that. Limit: the size limit is the account's setting `max_bytes` (25 MB, as large providers have it);
what the server announces is checked again while sending.
"""

from cadenza.providers.base import Problem
from cadenza.providers.check_mail import header_problems
from cadenza.providers.counting import is_blank
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Message

MAX_BYTES = 25 * 1024 * 1024
ENCODED = 4 / 3 * 78 / 76  # base64 with its line ends


def sender_of(account: AccountRef) -> str:
    """Return the address that mails come from."""
    return str(account.settings.get("from_address") or account.remote_id)


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that a mail server would refuse."""
    found = [_recipient(message), _sender(account), *header_problems(message)]
    found += [_body(message), _size(message, account)]
    return [problem for problem in found if problem is not None]


def _recipient(message: Message) -> Problem | None:
    if message.recipient is None:
        return Problem("no_recipient", "A mail needs a recipient.", field="recipient")
    if not is_address(message.recipient.address):
        detail = f"{message.recipient.address[:80]!r} is not a mail address."
        return Problem("bad_address", detail, field="recipient")
    return None


def _sender(account: AccountRef) -> Problem | None:
    if is_address(sender_of(account)):
        return None
    message = "The account has no address to send from: set its from address."
    return Problem("bad_sender", message, field="account")


def _body(message: Message) -> Problem | None:
    if not is_blank(message.text) or not is_blank(message.html or ""):
        return None
    return Problem("empty", "There is nothing to send: write a text.")


def _size(message: Message, account: AccountRef) -> Problem | None:
    own = account.settings.get("max_bytes")
    most = own if isinstance(own, int) else MAX_BYTES
    files = sum(item.size for item in message.media)
    size = int((files + len(message.text.encode()) + len((message.html or "").encode())) * ENCODED)
    if size <= most:
        return None
    detail = (
        f"The mail would have about {size} bytes; {most} are taken. Send a link instead of files."
    )
    return Problem("too_large", detail, field="media")
