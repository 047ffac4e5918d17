"""Mails to many: one function checks a template before a start, one returns what each recipient's mail has to show.

Every such mail shows a link to unsubscribe and who writes from where, by the variables `unsubscribe_url` and
`postal_address`, and carries the headers of one-click unsubscribing (RFC 8058), which the mail adapter writes from
the delivery's content. Planners call these and add nothing of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cadenza.accounts.seal import Keyring
from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.model import Invalid
from cadenza.contacts.unsubscribe import BulkMail, Subscriber, check_bulk_mail, unsubscribe_url
from cadenza.core.channels import Channel
from cadenza.sql.tx import Tx
from cadenza.templates.model import BodyFormat, TemplateVersion

UNSUBSCRIBE_URL, POSTAL_ADDRESS = "unsubscribe_url", "postal_address"


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSender:
    """Who sends to many: read it once, then write as many mails as there are recipients."""

    workspace_id: str
    keyring: Keyring
    public_url: str
    postal_address: str


def open_bulk_sender(tx: Tx, *, workspace_id: str, keyring: Keyring, public_url: str) -> BulkSender:
    """Read what every mail to many has to show."""
    address = tx.value(
        "SELECT postal_address FROM workspace WHERE id = :workspace_id", workspace_id=workspace_id
    )
    return BulkSender(
        workspace_id=workspace_id,
        keyring=keyring,
        public_url=public_url,
        postal_address=address or "",
    )


def check_bulk_template(sender: BulkSender, version: TemplateVersion) -> Sequence[Invalid]:
    """Say what is missing before many may get this mail; nothing: it may start."""
    content = version.content
    variant = content.variants.get(Channel.EMAIL)
    written = variant.text if variant is not None else None
    text = written or content.text or content.body
    html = None if content.format is BodyFormat.TEXT or written else content.body
    return check_bulk_mail(BulkMail(text, html, sender.public_url, sender.postal_address))


def bulk_values(sender: BulkSender, address: str) -> dict[str, str]:
    """Return what a mail to this recipient has to show: the link to unsubscribe, and who writes from where."""
    url = unsubscribe_url(
        sender.keyring, sender.public_url, Subscriber(sender.workspace_id, EMAIL, address)
    )
    known = {UNSUBSCRIBE_URL: url or "", POSTAL_ADDRESS: sender.postal_address}
    return {name: value for name, value in known.items() if value}
