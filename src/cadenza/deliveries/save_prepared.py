"""Saves what an adapter made ready over there, before anything irreversible, under the fence."""

from cadenza.deliveries.model import ClaimedDelivery
from cadenza.sql.tx import Tx


def save_prepared(tx: Tx, ticket: ClaimedDelivery, state: str) -> bool:
    """Keep the adapter's state with the delivery if this worker still holds it."""
    changed = tx.run(
        """
        UPDATE delivery SET prepared = :state
        WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease AND leased_until IS NOT NULL
        """,
        state=state,
        workspace_id=ticket.workspace_id,
        id=ticket.id,
        lease=ticket.lease,
    )
    return changed == 1
