"""After an outage or a hold: posts that came due while nothing left go out one after the other, never as a flood.

`overdue_accounts` names the accounts with several posts overdue that a worker would take at once; a lane that is
paused or held is not among them, its own resume plan decides. Whoever lets late posts go gives them turns here. Those
that are later than the account's grace (`not_too_late`) stay as they are, for the gate to call them missed.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from cadenza.accounts.model import Account, read_account
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import opened_of
from cadenza.deliveries.model import Lane
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import select

T = TypeVar("T")
SENT_LATE = Reason.of(Code.SENT_LATE)


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


def together(rows: Iterable[Row]) -> list[list[Row]]:
    """Part rows (`id`, `post_id`, `due_at`) into what goes together: a post's channels that are due at one instant."""
    groups: dict[tuple[str, datetime], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["post_id"] or row["id"], row["due_at"]), []).append(row)
    return list(groups.values())


def take_turns(now: datetime, late: Iterable[T], spacing: timedelta) -> list[tuple[T, datetime]]:
    """Give what is late its turns from now on, one after the other."""
    return [(each, now + spacing * turn) for turn, each in enumerate(late)]


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
