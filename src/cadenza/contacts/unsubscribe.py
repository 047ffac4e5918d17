"""Unsubscribing by a link (RFC 8058): an opaque signed token names the workspace, the channel and the address.

The address is sealed, so that a link tells nothing to servers and logs on its way; it works as long as its key is in
the keyring, and does not end. Whoever opens the link only sees a page: mail scanners open links. The post
unsubscribes, as often as it is sent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser

from cadenza.accounts.seal import Keyring
from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.link_token import BadToken, make_link_token, read_link_token
from cadenza.contacts.model import Invalid
from cadenza.contacts.suppress import SuppressionKind, SuppressionReason, read_suppression, suppress
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.sql.tx import Tx

PATH = "/u"
EVENT = "contact.unsubscribed"
_PURPOSE = "unsubscribe link"
_PLACEHOLDER = re.compile(r"\{\{\s*unsubscribe_url\s*(?:\|[^}]*)?\}\}")


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Whom a token names."""

    workspace_id: str
    channel: str
    address: str


def make_token(keyring: Keyring, subscriber: Subscriber) -> str:
    """Return a token that names the subscriber and tells nothing."""
    return make_link_token(
        keyring, _PURPOSE, subscriber.workspace_id, subscriber.channel, subscriber.address
    )


def read_token(keyring: Keyring, token: str) -> Subscriber | BadToken:
    """Read a token; whatever is wrong with it, it names nobody."""
    found = read_link_token(keyring, _PURPOSE, token)
    return found if isinstance(found, BadToken) else Subscriber(*found)


def unsubscribe_url(keyring: Keyring, public_url: str, subscriber: Subscriber) -> str | None:
    """Return the address for a mail's header and its visible link; None without a public https address."""
    if not public_url.startswith("https://"):
        return None
    return f"{public_url.rstrip('/')}{PATH}/{make_token(keyring, subscriber)}"


def unsubscribe(tx: Tx, now: datetime, subscriber: Subscriber) -> bool:
    """Suppress the address on its channel; return whether it is new. A repetition changes nothing."""
    is_mail = subscriber.channel == EMAIL
    new = read_suppression(
        SuppressionKind.ADDRESS if is_mail else SuppressionKind.HANDLE,
        subscriber.address,
        channel=subscriber.channel,
        reason=SuppressionReason.UNSUBSCRIBE,
    )
    home = {"workspace_id": subscriber.workspace_id}
    there = tx.one("SELECT id FROM workspace WHERE id = :workspace_id", **home)
    if isinstance(new, Invalid) or there is None:
        return False
    done = suppress(tx, now, [new], by="recipient", **home)
    if done.added:
        event = OutboxEvent(
            id=f"unsubscribed:{tx.new_id()}",
            kind=EVENT,
            subject_id=new.value,
            body={"channel": new.channel, "address": new.value, "audience_id": None},
            **home,
        )
        write_outbox(tx, now, [event])
    return bool(done.added)


@dataclass(frozen=True, slots=True)
class BulkMail:
    """What is looked at before a mail goes to many: its texts still with their variables."""

    text: str
    html: str | None
    public_url: str
    postal_address: str = ""


def check_bulk_mail(mail: BulkMail) -> Sequence[Invalid]:
    """Say what is missing before many may get this mail: one-click, a visible link, who writes from where."""
    wrong: list[Invalid] = []
    if not mail.public_url.startswith("https://"):
        message = "one-click unsubscribing needs a public https address: set public_url"
        wrong.append(Invalid("public_url", "no_one_click", message))
    parts: Mapping[str, str | None] = {"text": mail.text, "html": mail.html}
    for name, part in parts.items():
        if part is not None and not _PLACEHOLDER.search(part):
            message = "show a link to unsubscribe: write {{unsubscribe_url}} where it goes"
            wrong.append(Invalid(name, "no_unsubscribe_link", message))
    if not mail.postal_address.strip():
        message = "set the postal address that mails to many have to show"
        wrong.append(Invalid("postal_address", "no_postal_address", message))
    for name, part in parts.items():
        if (
            mail.postal_address.strip()
            and part is not None
            and not _shows(part, mail.postal_address)
        ):
            wrong.append(Invalid(name, "no_postal_address", "show your postal address"))
    return wrong


def _shows(part: str, postal_address: str) -> bool:
    if "{{postal_address}}" in part.replace(" ", ""):
        return True
    words = _Words()
    words.feed(part)
    return " ".join(postal_address.split()) in " ".join(" ".join(words.found).split())


class _Words(HTMLParser):
    """The text of HTML, without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep a piece of text."""
        self.found.append(data)
