"""What can be a mail: an address to send to, a subject, a body, a size that servers take.

Addresses are checked for what would break the dialogue, not for whether they exist; the server says
that. Limit: the size limit is the account's setting `max_bytes` (25 MB, as large providers have it);
what the server announces is checked again while sending.
"""

import re

from cadenza.providers.base import Problem
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Message

MAX_BYTES = 25 * 1024 * 1024
ENCODED = 4 / 3 * 78 / 76  # base64 with its line ends
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def sender_of(account: AccountRef) -> str:
    """Return the address that mails come from."""
    return str(account.settings.get("from_address") or account.remote_id)


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that a mail server would refuse."""
    found = [_recipient(message), _sender(account), *_headers(message), _body(message)]
    found += [_size(message, account), _unsubscribe(message)]
    return [problem for problem in found if problem is not None]


def _recipient(message: Message) -> Problem | None:
    if message.recipient is None:
        return Problem("no_recipient", "A mail needs a recipient.", field="recipient")
    if not is_address(message.recipient.address):
        says = f"{message.recipient.address[:80]!r} is not a mail address."
        return Problem("bad_address", says, field="recipient")
    return None


def _sender(account: AccountRef) -> Problem | None:
    if is_address(sender_of(account)):
        return None
    says = "The account has no address to send from: set its from address."
    return Problem("bad_sender", says, field="account")


def _headers(message: Message) -> list[Problem | None]:
    name = message.recipient.name if message.recipient else ""
    found: list[Problem | None] = []
    if not message.subject.strip():
        found.append(Problem("no_subject", "Write a subject.", field="subject"))
    for field, text in (("subject", message.subject), ("recipient", name)):
        if _CONTROL.search(text):
            says = f"The {field} holds a line break or control character: take it out."
            found.append(Problem("control_character", says, field=field))
    return found


def _body(message: Message) -> Problem | None:
    if message.text.strip() or (message.html or "").strip():
        return None
    return Problem("empty", "There is nothing to send: write a text.")


def _size(message: Message, account: AccountRef) -> Problem | None:
    own = account.settings.get("max_bytes")
    most = own if isinstance(own, int) else MAX_BYTES
    files = sum(item.size for item in message.media)
    size = int((files + len(message.text.encode()) + len((message.html or "").encode())) * ENCODED)
    if size <= most:
        return None
    says = (
        f"The mail would have about {size} bytes; {most} are taken. Send a link instead of files."
    )
    return Problem("too_large", says, field="media")


def _unsubscribe(message: Message) -> Problem | None:
    url = message.unsubscribe_url
    if url is None or (url.startswith("https://") and not re.search(r"[\s<>,\x00-\x1f]", url)):
        return None
    says = "One-click unsubscribing needs a plain https address."
    return Problem("unsubscribe_url", says, field="unsubscribe_url")
