"""Holds a post's deliveries for one transaction, and takes back what a worker has claimed.

The rows are locked, so that no claim, permit or settlement comes between reading and writing them. What
a worker holds but has no permit for may be taken out of its hands: the fence rises, so that its permit is
stale and nothing that it still prepares is kept. What is being sent is never taken back.
"""

from collections.abc import Sequence
from operator import itemgetter

from cadenza.deliveries import claim, lanes
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.sql.tx import Row, Tx


def hold_post(tx: Tx, workspace_id: str, post_id: str) -> list[Row]:
    """Return a post's deliveries but for canceled and skipped ones, locked."""
    # SQLite, asked for an order, would walk through the whole workspace in it.
    lock = "ORDER BY id FOR UPDATE" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT * FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id
            AND state NOT IN ('canceled', 'skipped')
        {lock}
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return sorted(rows, key=itemgetter("id"))


def settle_lanes(tx: Tx, rows: Sequence[Row]) -> None:
    """Say again when lanes may be looked at, after rows as they were held have been changed."""
    taken = [
        ClaimedDelivery(row["workspace_id"], row["id"], row["lease"], row)
        for row in rows
        if row["leased_until"] is not None
    ]
    if taken:
        claim.leave_lanes(tx, taken)
    lanes.refresh(tx, [(row["workspace_id"], row["lane_id"]) for row in rows])
