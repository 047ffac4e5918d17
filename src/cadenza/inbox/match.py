"""Finds what an inbound item answers to: the delivery that we sent.

By our bounce address first, then by the ids that the item names, the likeliest first, then by the person: the newest
message of this account to them within 30 days, which is a guess and marked as one. Limit: what a program has sent
past us is not ours to find.
"""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.accounts.open import refer
from cadenza.contacts.addresses import read_address
from cadenza.contacts.model import Invalid
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.inbox.model import Inbound
from cadenza.providers.smtp.compose import on_the_wire
from cadenza.providers.smtp.limits import sender_of
from cadenza.sql.tx import Row, Tx

GUESS = timedelta(days=30)
BY_BOUNCE_ADDRESS, BY_ID, BY_RECIPIENT = "bounce_address", "message_id", "recipient"


class Match(Struct, frozen=True):
    """What it answers to, and how that was found."""

    delivery_id: str
    account_id: str
    recipient: str | None
    by: str


def find_match(tx: Tx, inbound: Inbound) -> Match | None:
    """Return our message; None: it fits nothing that we sent."""
    if inbound.token is not None:
        found = _by_token(tx, inbound, inbound.token)
        if found is not None:
            return found
    for remote_id in _spellings(inbound.answers_to):
        found = _by_remote_id(tx, inbound.workspace_id, remote_id)
        if found is not None:
            return found
    return _by_recipient(tx, inbound)


def fold_address(channel: str, text: str | None) -> str | None:
    """Return the one spelling of an address; what cannot be read as one is only folded."""
    if not text or not text.strip():
        return None
    found = read_address(channel, text)
    return fold_recipient(text)[:254] if isinstance(found, Invalid) else found.address


def find_contact_id(tx: Tx, workspace_id: str, channel: str, address: str | None) -> str | None:
    """Return whose address this is."""
    if address is None:
        return None
    return tx.value(
        """
        SELECT contact_id FROM contact_address
        WHERE workspace_id = :workspace_id AND channel = :channel AND address = :address
        """,
        workspace_id=workspace_id,
        channel=channel,
        address=address,
    )


def _spellings(ids: Sequence[str]) -> list[str]:
    """Providers give Message-IDs with and without their brackets."""
    both = ([each, each[1:-1] if each.startswith("<") else f"<{each}>"] for each in ids if each)
    return list(dict.fromkeys(spelling for pair in both for spelling in pair))


def _by_token(tx: Tx, inbound: Inbound, token: str) -> Match | None:
    """A bounce address holds the digits of the Message-ID: `KEY+MAC` put together; a forged one fits no mail."""
    account = read_account(tx, inbound.workspace_id, inbound.account_id)
    if account is None:
        return None
    domain = on_the_wire(sender_of(refer(account))).rpartition("@")[2]
    digits = token.replace("+", "").lower()
    return _by_remote_id(tx, inbound.workspace_id, f"<{digits}@{domain}>", BY_BOUNCE_ADDRESS)


def _by_remote_id(tx: Tx, workspace_id: str, remote_id: str, by: str = BY_ID) -> Match | None:
    row = tx.one(
        """
        SELECT d.id, d.account_id, d.recipient FROM attempt a
        JOIN delivery d ON d.workspace_id = a.workspace_id AND d.id = a.delivery_id
        WHERE a.workspace_id = :workspace_id AND a.remote_id = :remote_id AND a.remote_id IS NOT NULL
        ORDER BY a.began_at DESC LIMIT 1
        """,
        workspace_id=workspace_id,
        remote_id=remote_id,
    )
    return None if row is None else _match(row, by)


def _by_recipient(tx: Tx, inbound: Inbound) -> Match | None:
    known = [inbound.address, *inbound.recipients]
    folded = {fold_recipient(each) for each in known if each}
    folded |= {each for text in known if (each := fold_address(inbound.channel, text))}
    folded |= {each.removeprefix("@") for each in folded}
    for address in sorted(folded):
        row = tx.one(
            """
            SELECT d.id, d.account_id, d.recipient FROM activity a
            JOIN delivery d ON d.workspace_id = a.workspace_id AND d.id = a.delivery_id
            WHERE a.workspace_id = :workspace_id AND a.recipient = :address AND a.account_id = :account_id
                AND a.recipient IS NOT NULL AND a.counts AND a.reserved_at > :since
            ORDER BY a.reserved_at DESC LIMIT 1
            """,
            workspace_id=inbound.workspace_id,
            address=address,
            account_id=inbound.account_id,
            since=inbound.at - GUESS,
        )
        if row is not None:
            return _match(row, BY_RECIPIENT)
    return None


def _match(row: Row, by: str) -> Match:
    return Match(row["id"], row["account_id"], row["recipient"], by)
