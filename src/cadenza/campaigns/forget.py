"""Forgets an erased person: the addresses of who was skipped by a campaign go; that somebody was, stays."""

from datetime import datetime

from cadenza.inbox.person import ErasedPerson
from cadenza.sql.tx import Tx


def forget_person(tx: Tx, now: datetime, person: ErasedPerson) -> None:
    """Take the person's addresses out of the reports, in the transaction that erases them."""
    tx.run(
        """
        UPDATE campaign_skip SET recipient = NULL
        WHERE workspace_id = :workspace_id AND kind = 'contact' AND member_id = :contact_id
        """,
        workspace_id=person.workspace_id,
        contact_id=person.contact_id,
    )
