"""Erases a person from contacts and suppression: of the suppressed address a salted hash stays."""

from datetime import datetime

from cadenza.contacts import audiences, store
from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.model import Address, Contact
from cadenza.contacts.suppress import (
    ALL,
    NewSuppression,
    SuppressionKind,
    SuppressionReason,
    suppress,
)
from cadenza.deliveries.erased_hash import erased_hash, read_salts
from cadenza.sql.tx import Tx


def find_salt(tx: Tx, now: datetime, workspace_id: str, *, new: str) -> str:
    """Return the workspace's salt; its first erasure takes the new one."""
    known = read_salts(tx, [workspace_id]).get(workspace_id)
    if known is not None:
        return known
    tx.run(
        """
        INSERT INTO erasure_salt (workspace_id, salt, created_at) VALUES (:workspace_id, :salt, :now)
        ON CONFLICT (workspace_id) DO NOTHING
        """,
        workspace_id=workspace_id,
        salt=new,
        now=now,
    )
    return read_salts(tx, [workspace_id])[workspace_id]


def erase_contact(tx: Tx, now: datetime, contact: Contact, *, salt: str, by: str) -> None:
    """Delete the person with everything of theirs, and keep hashes of whom not to write to."""
    home = contact.workspace_id
    for each in contact.addresses:
        _hide_suppression(tx, home, each)
    hashes = [
        NewSuppression(
            kind=_kind(each),
            value=erased_hash(salt, each.address),
            channel=ALL,
            reason=SuppressionReason.ERASURE,
        )
        for each in contact.addresses
    ]
    suppress(tx, now, hashes, workspace_id=home, by=by)
    audiences.leave_all(tx, home, [contact.id])
    tx.run(
        """
        UPDATE contact_import_row SET value = NULL
        WHERE workspace_id = :workspace_id AND (contact_id = :contact_id
            OR lower(value) IN (SELECT text FROM TABLE(:addresses) AS asked (text text)))
        """,
        workspace_id=home,
        contact_id=contact.id,
        addresses=[(each.address,) for each in contact.addresses],
    )
    tx.run(
        """
        DELETE FROM signup WHERE workspace_id = :workspace_id AND (contact_id = :contact_id
            OR address IN (SELECT text FROM TABLE(:addresses) AS asked (text text)))
        """,
        workspace_id=home,
        contact_id=contact.id,
        addresses=[(each.address,) for each in contact.addresses if each.channel == EMAIL],
    )
    tx.run(
        """
        DELETE FROM audience_unsubscribe WHERE workspace_id = :workspace_id AND (channel, address) IN (
            SELECT channel, address FROM TABLE(:addresses) AS asked (channel text, address text))
        """,
        workspace_id=home,
        addresses=[(each.channel, each.address) for each in contact.addresses],
    )
    store.delete(tx, home, [contact.id])


def _hide_suppression(tx: Tx, home: str, each: Address) -> None:
    """Take the plain address out of the list; the hash that follows keeps them unwritten to."""
    tx.run(
        """
        DELETE FROM suppression WHERE workspace_id = :workspace_id AND kind = :kind AND value = :value
        """,
        workspace_id=home,
        kind=_kind(each).value,
        value=each.address if each.channel == EMAIL else each.address.removeprefix("@"),
    )


def _kind(each: Address) -> SuppressionKind:
    return SuppressionKind.ADDRESS if each.channel == EMAIL else SuppressionKind.HANDLE
