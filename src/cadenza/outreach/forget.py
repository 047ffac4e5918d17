"""Forgets an erased person: what was written for them goes; that somebody was in the sequence stays, for its report."""

from datetime import datetime

from cadenza.inbox.person import ErasedPerson
from cadenza.sql.tx import Tx


def forget_person(tx: Tx, now: datetime, person: ErasedPerson) -> None:
    """Take the person's own messages and subjects out, in the transaction that erases them."""
    tx.run(
        """
        UPDATE sequence_contact SET messages = NULL, thread_subject = NULL, thread_id = NULL, detail = NULL
        WHERE workspace_id = :workspace_id AND contact_id = :contact_id
        """,
        workspace_id=person.workspace_id,
        contact_id=person.contact_id,
    )
