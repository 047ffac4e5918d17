"""After a reconnect: what came due meanwhile is held until a person says what becomes of it.

`offer` opens the lanes at once if nothing came due, else says what is held. `resume` does the choice:
`send` lets them go from now on, spaced, never as a flood; `draft` takes them off the road. A post's
channels that were due together stay together. Limit: 500 a call; the lanes open with the last of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.deliveries import lanes
from cadenza.sql.tx import Row, Tx

BATCH = 500
SPACING = timedelta(minutes=5)
GATES = (lanes.RECONNECT, "account")  # who parks lanes for want of a connected account


class Choice(StrEnum):
    """What becomes of what is held."""

    SEND = "send"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Offer:
    """Held deliveries, oldest first (a first batch of them); none: the lanes are open again."""

    held: tuple[str, ...]
    choices: tuple[Choice, ...] = tuple(Choice)


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was moved, with the new instants of what is sent; `left` wait for another call."""

    moved: tuple[str, ...]
    due: tuple[datetime, ...]
    left: int


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The account cannot send: nothing was changed."""

    state: str


def offer(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> Offer | NotConnected:
    """Say what is held; with nothing held there is nothing to choose, and the lanes open."""
    state = _state(tx, workspace_id, account_id)
    if state not in ("connected", "expiring"):
        return NotConnected(state)
    held = _held(tx, now, workspace_id, account_id)
    if not held:
        _open(tx, workspace_id, account_id)
    return Offer(tuple(row["id"] for row in held))


def resume(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    choice: Choice,
    spacing: timedelta = SPACING,
) -> Resumed | NotConnected:
    """Do the choice for a batch of what is held."""
    state = _state(tx, workspace_id, account_id)
    if state not in ("connected", "expiring"):
        return NotConnected(state)
    held = _held(tx, now, workspace_id, account_id)
    if choice is Choice.DRAFT:
        moved, due = _to_drafts(tx, held), ()
    else:
        moved, due = _send(tx, now, held, spacing)
    left = len(_held(tx, now, workspace_id, account_id)) if len(held) == BATCH else 0
    if not left:
        _open(tx, workspace_id, account_id)
    lanes.refresh(tx, [(workspace_id, row["lane_id"]) for row in held])
    return Resumed(tuple(moved), tuple(due), left)


def _state(tx: Tx, workspace_id: str, account_id: str) -> str:
    state: str | None = tx.value(
        "SELECT state FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )
    return state or "unknown"


def _held(tx: Tx, now: datetime, workspace_id: str, account_id: str) -> list[Row]:
    return tx.all(
        """
        SELECT delivery.* FROM delivery JOIN lane
            ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
        WHERE delivery.workspace_id = :workspace_id AND delivery.account_id = :account_id
            AND state = 'scheduled' AND leased_until IS NULL AND (
                (due_at < :now AND parked_by IN ('reconnect', 'account'))
                OR (was_due_at < :now AND due_at > :far_off)
            )
        ORDER BY coalesce(was_due_at, due_at), priority, delivery.id LIMIT :batch
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        now=now,
        far_off=now + lanes.A_YEAR,  # put off, in a lane of others, until the account is connected
        batch=BATCH,
    )


def _send(
    tx: Tx, now: datetime, held: Sequence[Row], spacing: timedelta
) -> tuple[list[str], list[datetime]]:
    """Give each its instant: from then on it may be late again."""
    turns: dict[tuple[str, datetime], datetime] = {}
    moved: list[str] = []
    due: list[datetime] = []
    for row in held:
        together = (row["post_id"] or row["id"], row["due_at"])
        instant = turns.setdefault(together, now + spacing * len(turns))
        changed = tx.run(
            """
            UPDATE delivery SET due_at = :due, was_due_at = NULL, slot_at = NULL, deferrals = deferrals + 1,
                reason = 'sent after the account was connected again'
            WHERE workspace_id = :workspace_id AND id = :id AND state = 'scheduled' AND leased_until IS NULL
            """,
            due=instant,
            workspace_id=row["workspace_id"],
            id=row["id"],
        )
        if changed:
            moved.append(row["id"])
            due.append(instant)
    return moved, due


def _to_drafts(tx: Tx, held: Sequence[Row]) -> list[str]:
    return [
        row["id"]
        for row in held
        if tx.run(
            """
            UPDATE delivery SET state = 'draft', slot_at = NULL, lease = lease + 1,
                due_at = coalesce(was_due_at, due_at), was_due_at = NULL,
                reason = 'taken back while the account was disconnected'
            WHERE workspace_id = :workspace_id AND id = :id AND state = 'scheduled' AND leased_until IS NULL
            """,
            workspace_id=row["workspace_id"],
            id=row["id"],
        )
    ]


def _open(tx: Tx, workspace_id: str, account_id: str) -> None:
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=GATES)
