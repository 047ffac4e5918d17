"""After an outage or a hold: posts that came due while nothing left go out one after the other, never as a flood.

`overdue_accounts` names the accounts with several posts overdue that a worker would take at once; a lane that is
paused or held is not among them, its own resume plan decides. `space` gives the ones within the account's
grace their turns; older ones stay as they are, for the gate to call them missed.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from cadenza.accounts.model import Account, read_account
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import opened_of
from cadenza.deliveries.history import record_moves
from cadenza.deliveries.model import Lane
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.resume_plan import SPACING
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import select

SENT_LATE = Reason.of(Code.SENT_LATE)


class Spaced(NamedTuple):
    """A late post that got its turn."""

    id: str
    post_id: str | None
    was_at: datetime
    now_at: datetime


def overdue_accounts(tx: Tx, now: datetime) -> list[tuple[str, str]]:
    """Name the accounts (workspace, account) that have more than one post overdue."""
    rows = tx.all(
        f"""
        SELECT lane.workspace_id, lane.account_id FROM lane
        JOIN delivery ON delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
        WHERE NOT paused AND runnable_at IS NOT NULL AND {lanes.TURN} <= :now
            AND in_flight < in_flight_limit AND lane.account_id IS NOT NULL
            AND state = 'scheduled' AND leased_until IS NULL AND due_at <= :now AND action = 'post'
            AND {lanes.RESUMED}
        GROUP BY lane.workspace_id, lane.account_id
        HAVING count(DISTINCT coalesce(post_id, delivery.id)) > 1
        ORDER BY lane.workspace_id, lane.account_id
        """,  # noqa: S608 - constants
        now=now,
    )
    return [(row["workspace_id"], row["account_id"]) for row in rows]


def space_out(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, spacing: timedelta = SPACING
) -> list[tuple[str, datetime]]:
    """Give an account's late posts their turns from now on; a post's channels go together."""
    lane_id = f"account:{account_id}"
    late = _late(tx, now, workspace_id, account_id)
    turns: dict[tuple[str, datetime], datetime] = {}
    for row in late:
        together = (row["post_id"] or row["id"], row["due_at"])
        turns.setdefault(together, now + spacing * len(turns))
    given = [(row["id"], turns[row["post_id"] or row["id"], row["due_at"]]) for row in late]
    # Due at its turn, it is late only if nothing runs then.
    send_late(tx, now, workspace_id, dict(given))
    moved = [
        Spaced(r["id"], r["post_id"], r["due_at"], at)
        for r, (_, at) in zip(late, given, strict=True)
    ]
    record_moves(
        tx,
        now,
        moved,
        workspace_id=workspace_id,
        account_id=account_id,
        why="it came due while nothing was sent",
    )
    lanes.refresh(tx, [(workspace_id, lane_id)])
    return given


def send_late(tx: Tx, now: datetime, workspace_id: str, turns: Mapping[str, datetime]) -> None:
    """Let scheduled posts that are late go at their turns: from then on they may be late again."""
    changes = {
        id_: Changes(due_at=at, slot_at=None, reason=SENT_LATE, deferred=1)
        for id_, at in turns.items()
    }
    move_posts(tx, now, workspace_id, changes, was=(State.SCHEDULED,))


def not_too_late(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> datetime:
    """Say from which due time on an account's posts may still go: what waits for a choice does not."""
    account = read_account(tx, workspace_id, account_id)
    key = (workspace_id, f"account:{account_id}")
    lane = select(tx, Lane, "lane", [key]).get(key)
    if account is None or lane is None:
        return now
    since = _within_grace(now, account, lane)
    return since if lane.unresumed_until is None else max(since, lane.unresumed_until)


def _within_grace(now: datetime, account: Account, lane: Lane) -> datetime:
    """Say how far back the gate does not call a post of this lane missed."""
    grace, opened = timedelta(minutes=account.grace_minutes), opened_of(lane, now)
    if opened is None or now - opened > grace:
        return now - grace
    if lane.held_at is None:
        return now - lanes.A_YEAR
    return min(now - grace, lane.held_at - (grace - (now - opened)))


def _late(tx: Tx, now: datetime, workspace_id: str, account_id: str) -> list[Row]:
    return tx.all(
        """
        SELECT id, post_id, due_at FROM delivery
        WHERE workspace_id = :workspace_id AND lane_id = :lane_id AND state = 'scheduled'
            AND leased_until IS NULL AND due_at <= :now AND due_at >= :since AND action = 'post'
        ORDER BY due_at, id
        """,
        workspace_id=workspace_id,
        lane_id=f"account:{account_id}",
        now=now,
        since=not_too_late(tx, now, workspace_id=workspace_id, account_id=account_id),
    )
