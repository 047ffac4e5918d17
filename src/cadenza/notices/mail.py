"""The Mail port, and SMTP behind it: a letter goes in, what became of it comes out.

The dialogue is that of the e-mail channel, over the guarded door. A reply lost after the message was
handed over is told again under the same Message-ID: for a notice, twice is better than never.
"""

from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from typing import Protocol

from cadenza.notices.model import Delivered, Email, Ending, GaveUp, RetryLater
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.mail_address import is_one
from cadenza.providers.smtp.compose import needs_utf8, on_the_wire, with_headers
from cadenza.providers.smtp.errors import Stage
from cadenza.providers.smtp.session import Lost, MailAccepted, MailRefused, Server, Unfit, deliver
from cadenza.providers.smtp.session import OutgoingMail as Envelope
from cadenza.providers.smtp.write_headers import exactly, mailbox, words


class Mail(Protocol):
    """What the product may ask of the post office."""

    async def send(self, email: Email) -> Ending: ...


@dataclass(frozen=True, slots=True)
class SmtpMail:
    """The instance's own mail server."""

    http: OutboundClient
    server: Server
    sender: str
    sender_name: str = "Cadenza"

    async def send(self, email: Email) -> Ending:
        """Hand one letter over."""
        if not is_one(email.to):
            return GaveUp("this is no address of one mailbox")
        try:
            sender, to = on_the_wire(self.sender), on_the_wire(email.to)
            data = self._written(email, sender, to)
        except (ValueError, UnicodeError, IndexError):
            return GaveUp("the address or a header of this mail cannot be written")
        envelope = Envelope(sender, to, data, utf8=needs_utf8(sender, to))
        match await deliver(self.http, self.server, envelope):
            case MailAccepted():
                return Delivered()
            case MailRefused(Stage.RCPT, code, text) if code >= 500:
                return GaveUp(f"the mail server refuses the address: {code} {text}")
            case MailRefused(_, code, text):
                return RetryLater(f"the mail server refused: {code} {text}")
            case Lost():
                return RetryLater("the mail server did not answer", silent=True)
            case Unfit(_, message):
                return RetryLater(message)
            case nothing:
                return RetryLater(nothing.message, silent=True)

    def _written(self, email: Email, sender: str, to: str) -> bytes:
        domain = sender.rpartition("@")[2]
        headers = [
            mailbox("From", self.sender_name, sender),
            mailbox("To", email.name, to),
            words("Subject", email.subject),
            exactly("Date", format_datetime(email.at)),
            exactly("Message-ID", f"<{sha256(email.key.encode()).hexdigest()[:40]}@{domain}>"),
            exactly("Auto-Submitted", "auto-generated"),
        ]
        body = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
        body.set_content(email.text)
        body.add_alternative(email.html, subtype="html")
        return with_headers(headers, body)
