"""Marks an address that does not exist any more, so that people see it on the contact."""

from datetime import datetime

from cadenza.sql.tx import Tx


def mark_bounced(tx: Tx, now: datetime, *, workspace_id: str, channel: str, address: str) -> bool:
    """Mark the address; say whether it is somebody's."""
    found = tx.run(
        """
        UPDATE contact_address SET bounced_at = coalesce(bounced_at, :now)
        WHERE workspace_id = :workspace_id AND channel = :channel AND address = :address
        """,
        now=now,
        workspace_id=workspace_id,
        channel=channel,
        address=address,
    )
    return found > 0
