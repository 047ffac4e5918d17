"""What a simulated mail server keeps, and how it looks at a mail: headers once each, no odd lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.policy import SMTP, SMTPUTF8, compat32
from email.utils import format_datetime

from cadenza.demo.simulator.wire import Answer

ONCE = ("From", "To", "Subject", "Date", "Message-ID")
AT_MOST_ONCE = ("List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To", "Auto-Submitted")
# Read by machines, as they stand: an encoded word (RFC 2047) in one of them is only odd letters.
AS_THEY_STAND = (
    *("Date", "Message-ID", "In-Reply-To", "References"),
    *("List-Unsubscribe", "List-Unsubscribe-Post", "Auto-Submitted"),
)
KNOWN = frozenset(
    name.lower() for name in (*ONCE, *AT_MOST_ONCE, *AS_THEY_STAND, "MIME-Version", "Content-Type")
) | {"content-transfer-encoding", "dkim-signature"}
_UNSUBSCRIBE = re.compile(r"<https://[^<>\s]+>(?:, <mailto:[^<>\s]+>)?")


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """A reply of the server."""

    code: int
    text: str

    @classmethod
    def of(cls, answer: Answer) -> "ReplyLine":
        """Read a fault's answer as a reply: its status is the code, its body the text."""
        return cls(answer.status, answer.body.decode())


@dataclass(slots=True)
class Rules:
    """What the server has configured."""

    size: int = 1024 * 1024
    needs_auth: bool = True
    offers_auth: str = "PLAIN LOGIN XOAUTH2"
    utf8: bool = True
    greylist: timedelta = timedelta()  # how long a stranger has to wait, on the networks' clock


@dataclass(slots=True)
class Mailbox:
    """Someone who may sign in."""

    name: str
    password: str
    revoked: bool = False


@dataclass(slots=True)
class Script:
    """Replies that a recipient's mailbox gives, one after the other, before it takes mail."""

    rcpt: list[ReplyLine] = field(default_factory=list[ReplyLine])
    dot: list[ReplyLine] = field(default_factory=list[ReplyLine])


def read_mail(data: bytes) -> EmailMessage:
    """Parse a mail as it came."""
    mail = message_from_bytes(data, _class=EmailMessage, policy=SMTPUTF8)
    assert isinstance(mail, EmailMessage)
    return mail


def words_of(mail: EmailMessage) -> str:
    """Return what a person reads: the plain text, else the HTML."""
    body = mail.get_body(preferencelist=("plain", "html"))
    return body.get_content().replace("\r\n", "\n").rstrip("\n") if body else ""


def trouble_with(data: bytes, mail: EmailMessage) -> str | None:
    """Say what a strict server has against a mail."""
    checks: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: re.search(rb"(?<!\r)\n|\r(?!\n)", data) is not None, "bare line end"),
        (lambda: max(map(len, data.split(b"\r\n"))) > 998, "line too long"),
        (lambda: any(len(mail.get_all(name, [])) != 1 for name in ONCE), "header missing or twice"),
        (lambda: any(len(mail.get_all(name, [])) > 1 for name in AT_MOST_ONCE), "header twice"),
        (lambda: not {name.lower() for name in mail} <= KNOWN, "a header that nobody writes"),
        (lambda: not _one_mailbox(mail), "more than one mailbox, or none"),
        (lambda: _encoded_for_machines(data), "an encoded word where none is read"),
        (lambda: not _unsubscribes(mail), "one-click unsubscribing is broken"),
        (lambda: re.fullmatch(r"<[^<>\s@]+@[^<>\s@]+>", mail["Message-ID"].strip()) is None, "id"),
    )
    return next((words for wrong, words in checks if wrong()), None)


def _one_mailbox(mail: EmailMessage) -> bool:
    boxes = [mail[name].addresses for name in ("From", "To", "Reply-To") if mail[name] is not None]
    return all(len(found) == 1 and "@" in found[0].addr_spec for found in boxes)


def _encoded_for_machines(data: bytes) -> bool:
    raw = message_from_bytes(data, policy=compat32)
    return any("=?" in str(value) for name in AS_THEY_STAND for value in raw.get_all(name, []))


def _unsubscribes(mail: EmailMessage) -> bool:
    """Check RFC 8058: both headers or neither, an https address, the one fixed value."""
    where, how = mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"]
    if where is None and how is None:
        return True
    one_click = how == "List-Unsubscribe=One-Click"
    return one_click and _UNSUBSCRIBE.fullmatch(" ".join(str(where).split())) is not None


def write_report(raw: bytes, to: str, status: str, now: datetime) -> bytes:
    """Write a delivery status notification (RFC 3464) about a mail that could not be delivered."""
    about = read_mail(raw)
    report = MIMEMultipart("report")
    report.set_param("report-type", "delivery-status")
    report["From"] = "MAILER-DAEMON@simulated.example"
    report["To"], report["Subject"] = str(about["From"]), "Undelivered Mail Returned to Sender"
    report["Date"], report["Auto-Submitted"] = format_datetime(now), "auto-replied"
    report.attach(MIMEText(f"Your mail to {to} could not be delivered.\n"))
    action = "delayed" if status.startswith("4") else "failed"
    facts = MIMEBase("message", "delivery-status")
    facts.attach(_fields({"Reporting-MTA": "dns; simulated.example"}))
    about_to = {"Final-Recipient": f"rfc822; {to}", "Action": action, "Status": status}
    facts.attach(_fields({**about_to, "Diagnostic-Code": f"smtp; 550 {status} undeliverable"}))
    report.attach(facts)
    headers = MIMEBase("text", "rfc822-headers")
    headers.set_payload(f"Message-ID: {about['Message-ID'].strip()}\r\nTo: {to}\r\n")
    report.attach(headers)
    return report.as_bytes(policy=SMTP)


def _fields(fields: dict[str, str]) -> Message:
    block = Message()
    for name, value in fields.items():
        block[name] = value
    return block
