"""Holds a post's deliveries for one transaction, and takes back what a worker has claimed.

The rows are locked, so that no claim, permit or settlement comes between reading and writing them. What
a worker holds but has no permit for may be taken out of its hands: the fence rises, so that its permit is
stale and nothing that it still prepares is kept. What is being sent is never taken back.
"""

from collections.abc import Sequence
from operator import attrgetter

from cadenza.deliveries import claim, lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values


def hold_post(tx: Tx, workspace_id: str, post_id: str) -> list[Delivery]:
    """Return a post's deliveries but for canceled and skipped ones, locked."""
    # SQLite, asked for an order, would walk through the whole workspace in it.
    lock = "ORDER BY id FOR UPDATE" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id
            AND state NOT IN ('canceled', 'skipped')
        {lock}
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return sorted(read_values(Delivery, rows), key=attrgetter("id"))


def settle_lanes(tx: Tx, held: Sequence[Delivery]) -> None:
    """Say again when lanes may be looked at, after deliveries as they were held have been changed."""
    if taken := [each for each in held if each.is_leased]:
        claim.free_lane_room(tx, taken)
    lanes.refresh(tx, [each.lane_key for each in held])
