"""Whatever people and networks write stays words: no header, no second recipient, no markup."""

import email
import email.policy
from datetime import UTC, datetime
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from cadenza.core.clock import SystemClock
from cadenza.notices.mail import SmtpMail
from cadenza.notices.model import Email, GaveUp, NoticeBatch
from cadenza.notices.write import write
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.smtp.session import Server

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BREAKS = ("\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r\n\t", "\x00")
HEADERS = {
    *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version"),
    *("Content-Type", "Content-Transfer-Encoding"),
}
XSS = (
    "<script>hurt()</script>",
    "<img src=x onerror=hurt()>",
    '"><svg onload=hurt()>',
    "'><iframe srcdoc='<script>hurt()</script>'>",
    "</li></ul><style>@import'//evil.example'</style>",
    "<a href=javascript:hurt()>x</a>",
    "&lt;script&gt;hurt()&lt;/script&gt;",
    "{settings}{body}{title.__class__}",
)
ALLOWED = {"html", "body", "h1", "ul", "li", "p", "a"}


class Tags(HTMLParser):
    """Which tags there are, with what they carry."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def letter(**changes: Any) -> Email:
    plain = {"to": "ada@example.org", "name": "Ada", "subject": "Hi", "text": "x", "html": "x"}
    return Email(**{**plain, **changes}, key="k", at=NOW)


async def written(one: Email) -> EmailMessage | None:
    """Write a mail as it goes out; None: it cannot be written, and nothing goes."""
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        office = SmtpMail(
            http, Server(host="mail.example", port=25, security="none"), "c@example.org"
        )
        try:
            data = office._written(one, "c@example.org", one.to)
        except (ValueError, UnicodeError, IndexError):
            return None
    mail = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


@pytest.mark.parametrize("break_", BREAKS, ids=ascii)
@pytest.mark.parametrize("field", ["subject", "name"])
async def test_no_word_becomes_a_header(field: str, break_: str) -> None:
    mail = await written(letter(**{field: f"Hi{break_}Bcc: cy@example.org{break_}{break_}Body"}))
    if mail is not None:
        assert set(mail.keys()) <= HEADERS
        assert [address.addr_spec for address in mail["To"].addresses] == ["ada@example.org"]
        assert mail["Bcc"] is None


@pytest.mark.parametrize("field", ["subject", "name"])
async def test_no_word_that_looks_encoded_becomes_a_header(field: str) -> None:
    hidden = "=?utf-8?q?Hi=0D=0ABcc:_cy=40example.org?="
    mail = await written(letter(**{field: hidden}))
    assert mail is not None
    assert set(mail.keys()) <= HEADERS
    assert [address.addr_spec for address in mail["To"].addresses] == ["ada@example.org"]


@pytest.mark.parametrize(
    "to",
    [
        "ada@example.org\r\nBcc: cy@example.org",
        "ada@example.org, cy@example.org",
        "ada@example.org> RCPT TO:<cy@example.org",
        "\x00@example.org",
        "nobody",
        "",
    ],
)
async def test_no_address_becomes_two(to: str) -> None:
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        office = SmtpMail(http, Server(host="192.0.2.1", port=25, security="none"), "c@example.org")
        assert isinstance(await office.send(letter(to=to)), GaveUp)


async def test_a_mail_has_one_recipient_and_is_an_object_of_its_own() -> None:
    first, second = await written(letter()), await written(letter(to="ben@example.org"))
    assert first is not None
    assert second is not None
    assert [str(first["To"]), str(second["To"])] == [
        "Ada <ada@example.org>",
        "Ada <ben@example.org>",
    ]
    assert first.get_all("To") == [first["To"]]


@pytest.mark.parametrize("nasty", XSS)
@pytest.mark.parametrize(
    "kind",
    [
        "delivery.failed",
        "delivery.sent",
        "account.expiring",
        "account.needs_reconnect",
        "account.suspended",
        "installation.held",
        "queue.dry",
    ],
)
def test_no_word_becomes_markup_in_a_mail(kind: str, nasty: str) -> None:
    body = dict.fromkeys(("reason", "handle", "provider", "state", "held"), nasty)
    row = {
        "kind": kind,
        "workspace_id": "home",
        "id": "1",
        "subject_id": nasty,
        "post_id": nasty,
        "account_id": nasty,
        "handle": nasty,
        "channel": nasty,
        "content": msgspec.json.encode({"text": nasty}).decode(),
        "body": msgspec.json.encode(
            body | {"url": "javascript:hurt()", "ends_at": NOW, "last_at": NOW}
        ).decode(),
        "created_at": NOW,
    }
    batch = NoticeBatch("home", "mail", "ada", "each", 1, 0, (row,))
    made = write(
        batch, to="a@b.example", name=nasty, home=nasty, public_url="https://c.example", now=NOW
    )
    for tag, attributes in Tags(made.html).seen:
        assert tag in ALLOWED, made.html
        assert set(attributes) <= {"href", "style"}, made.html
        href = attributes.get("href") or "#"
        assert href.startswith(("https://", "#")), href
