"""Write a mail: headers that receivers ask for, text and HTML side by side, files at the end.

The Message-ID is made from the attempt's key, so that a repeat of the same attempt is the same mail to
receivers and in logs. Bodies are encoded to seven bits and short lines: every server takes them.
Signing comes after it (`sign_dkim.py`), where the sending server does not sign itself.
"""

import hashlib
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from cadenza.providers.base import AttemptContext
from cadenza.providers.message import AccountRef, MediaItem, Message
from cadenza.providers.sign_mail import signed
from cadenza.providers.smtp.limits import sender_of
from cadenza.providers.smtp.write_headers import exactly, mailbox, words

ONE_CLICK = "List-Unsubscribe=One-Click"
_IDNA = "idna"


def message_id(key: str, account: AccountRef) -> str:
    """Make the mail's id: the same for the same attempt, told by nothing but its key."""
    digest = hashlib.sha256(f"{account.id}\n{key}".encode()).hexdigest()
    domain = sender_of(account).rpartition("@")[2]
    return f"<{digest[:40]}@{_ascii(domain)}>"


def bounce_address(key: str, account: AccountRef) -> str:
    """Return where reports about this mail go: an address of its own, where the account has a domain for them.

    Its digits are those of the Message-ID, which nobody can guess, so no secret is needed to tell a forged one.
    """
    domain = str(account.settings.get("bounce_domain") or "")
    if not domain:
        return sender_of(account)
    digits = message_id(key, account)[1:].partition("@")[0]
    return f"b+{digits[:32]}+{digits[32:]}@{domain}"


def needs_utf8(*addresses: str) -> bool:
    """Say whether an address can only be written with the SMTPUTF8 extension."""
    return not all(each.rpartition("@")[0].isascii() for each in addresses)


def on_the_wire(address: str) -> str:
    """Write an address with its domain in ASCII."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{_ascii(domain)}"


async def compose(call: AttemptContext) -> bytes:
    """Write the whole mail, lines ended as on the wire; raises ValueError for a broken header."""
    message, account = call.message, call.account
    assert message.recipient is not None, "validate asks for a recipient"
    sender, to = on_the_wire(sender_of(account)), on_the_wire(message.recipient.address)
    headers = [
        mailbox("From", str(account.settings.get("from_name") or ""), sender),
        mailbox("To", message.recipient.name, to),
        words("Subject", message.subject),
        exactly("Date", _date(call.now)),
        exactly("Message-ID", message_id(call.key, account)),
        *_optional(message, account),
    ]
    body = EmailMessage(policy=SMTP.clone(cte_type="7bit", max_line_length=78))
    _write_body(body, signed(message, account))
    for item in message.media:
        main, _, sub = item.mime.partition("/")
        data, name = await item.read(), named(item)
        body.add_attachment(data, maintype=main, subtype=sub or "octet-stream", filename=name)
    return with_headers(headers, body)


def with_headers(headers: list[str], body: EmailMessage) -> bytes:
    """Put headers that are written already before a body with its own."""
    return "".join(f"{line}\r\n" for line in headers).encode() + body.as_bytes()


def named(item: MediaItem) -> str:
    """Return a file's name; the library would decode one that looks encoded, line ends included."""
    return item.name.replace("=?", "=_") or "file"


def _optional(message: Message, account: AccountRef) -> list[str]:
    headers: list[str] = []
    if account.settings.get("reply_to"):
        headers.append(mailbox("Reply-To", "", on_the_wire(str(account.settings["reply_to"]))))
    if message.unsubscribe_url:
        by_mail = account.settings.get("unsubscribe_mailto")
        also = (f"<mailto:{by_mail}>",) if by_mail else ()
        headers.append(exactly("List-Unsubscribe", f"<{message.unsubscribe_url}>", *also))
        headers.append(exactly("List-Unsubscribe-Post", ONE_CLICK))
    if message.options.get("auto_submitted"):
        headers.append(exactly("Auto-Submitted", "auto-generated"))
    if message.options.get("in_reply_to"):
        before = str(message.options["in_reply_to"])
        thread = str(message.options.get("references") or before)
        headers += [exactly("In-Reply-To", before), exactly("References", thread)]
    return headers


def _write_body(mail: EmailMessage, message: Message) -> None:
    if message.text.strip():
        mail.set_content(message.text)
        if message.html:
            mail.add_alternative(message.html, subtype="html")
    else:
        mail.set_content(message.html or "", subtype="html")


def _date(now: datetime) -> str:
    return format_datetime(now)


def _ascii(domain: str) -> str:
    return domain if domain.isascii() else domain.encode(_IDNA).decode("ascii")
