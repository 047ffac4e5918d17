"""Clears full days at the moment of sending: what is one post too many moves to the next free slot.

The pipeline's gate parks a lane whose next post is over its maximum per day; `overfull` names such lanes and
`relieve` moves the posts on, a bounded number a call, and opens the lane. Where no slot is free within a
year the post waits for the next day, and says so.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import MAX_PER_DAY
from cadenza.deliveries.history import record_moves
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues.defer import defer_over_cap
from cadenza.queues.model import Moved, NoRoom
from cadenza.sql.tx import Row, Tx

LANES = 100  # a look
POSTS = 50  # of a lane a call; the lane is parked again if there are more


@dataclass(frozen=True, slots=True)
class MovedOverMax:
    """What moved, and what found no slot and waits for the next day."""

    moved: tuple[Moved, ...]
    full: tuple[str, ...]


def overfull(tx: Tx, now: datetime) -> list[tuple[str, str]]:
    """Name the accounts (workspace, account) whose next post is one too many for its day."""
    rows = tx.all(
        """
        SELECT workspace_id, account_id FROM lane
        WHERE parked_by = 'max per day' AND id = 'account:' || account_id AND NOT paused
        ORDER BY workspace_id, id LIMIT :limit
        """,
        limit=LANES,
    )
    return [(row["workspace_id"], row["account_id"]) for row in rows]


def locks_of(workspace_id: str, account_id: str) -> list[str]:
    """Name what is decided about: the same as a permit of the account holds."""
    return [f"account:{workspace_id}:{account_id}"]


def move_over_daily_max(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str
) -> MovedOverMax:
    """Move the account's due posts that are over the maximum, then let its lane be looked at."""
    moved: list[Moved] = []
    full: list[Row] = []
    for row in _due(tx, now, workspace_id, account_id):
        match defer_over_cap(tx, now, workspace_id=workspace_id, id=row["id"]):
            case Moved() as one:
                moved.append(one)
            case NoRoom():
                full.append(row)
            case _:
                pass  # it has room again, or went along with another of its post
    _put_off(tx, now, workspace_id, account_id, full)
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=[MAX_PER_DAY])
    return MovedOverMax(tuple(moved), tuple(row["id"] for row in full))


def _due(tx: Tx, now: datetime, workspace_id: str, account_id: str) -> list[Row]:
    return tx.all(
        """
        SELECT id, post_id, due_at FROM delivery
        WHERE workspace_id = :workspace_id AND lane_id = :lane_id AND action = 'post'
            AND state = 'scheduled' AND leased_until IS NULL AND due_at <= :now
        ORDER BY due_at, id LIMIT :limit
        """,
        workspace_id=workspace_id,
        lane_id=f"account:{account_id}",
        now=now,
        limit=POSTS,
    )


def _put_off(tx: Tx, now: datetime, workspace_id: str, account_id: str, rows: list[Row]) -> None:
    """Let those wait for the next local day: asked again each time, a year would be searched each time."""
    if not rows:
        return
    zone = get_zone(
        tx.value(
            "SELECT zone FROM account WHERE workspace_id = :workspace_id AND id = :id",
            workspace_id=workspace_id,
            id=account_id,
        )
    )
    tomorrow = day_bounds(local_day(now, zone), zone)[1]
    why = Reason.of(Code.NO_SLOT_FREE)
    changes = Changes(due_at=tomorrow, slot_at=None, reason=why)
    ids = dict.fromkeys((row["id"] for row in rows), changes)
    move_posts(tx, now, workspace_id, ids, was=(State.SCHEDULED,))
    put_off = [Moved(row["id"], row["post_id"], row["due_at"], tomorrow) for row in rows]
    record_moves(tx, now, put_off, workspace_id=workspace_id, account_id=account_id, why=why.text)
    lanes.refresh(tx, [(workspace_id, f"account:{account_id}")])
