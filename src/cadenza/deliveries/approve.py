"""Lets a post's deliveries into the pipeline when it is approved, and takes them back when it is not.

An approval schedules drafts at the instant that they had; one that is past by more than the account's
grace is missed, with one-step ways to go on. Drafts that a person took back from the pipeline, approved,
stay where they are. Nothing that is being sent is taken back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.hold import hold_post, settle_lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.rewrite import FROZEN, Frozen, withdraw
from cadenza.deliveries.transition import Changes, Move, end_waiting, move
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

NOT_IN_TIME = Reason.of(Code.NOT_APPROVED_IN_TIME)
BATCH = 500


@dataclass(frozen=True, slots=True)
class Released:
    """What an approval put in the pipeline, and what it came too late for."""

    scheduled: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What is a draft again, and what is out or on its way already."""

    drafts: tuple[str, ...]
    frozen: tuple[Frozen, ...]


def release(tx: Tx, now: datetime, *, workspace_id: str, post_id: str) -> Released:
    """Schedule the drafts of an approved post; what failed or was missed may be retried from now on."""
    held = [row for row in hold_post(tx, workspace_id, post_id) if not row.approved]
    drafts = [row for row in held if row.state is State.DRAFT]
    grace = _grace(tx, workspace_id, drafts)
    late = [row for row in drafts if now - row.due_at > grace[row.account_id]]
    late_ids = {row.id for row in late}
    move(tx, now, [_approved(row, late=row.id in late_ids) for row in held])
    settle_lanes(tx, drafts)
    _tell_missed(tx, now, [(*row.key, row.lease + 1) for row in late])
    return Released(
        tuple(row.id for row in drafts if row.id not in late_ids),
        tuple(row.id for row in late),
    )


def take_back(
    tx: Tx, now: datetime, *, workspace_id: str, post_id: str, reason: Reason
) -> TakenBack:
    """Make drafts of what waits: the approval is gone."""
    held = hold_post(tx, workspace_id, post_id)
    moving = [row for row in held if row.state in (State.DRAFT, State.SCHEDULED)]
    move(
        tx,
        now,
        [
            withdraw(row, Changes(approved=False, revised=True), reason)
            for row in held
            if row.state not in FROZEN
        ],
    )
    settle_lanes(tx, moving)
    frozen = tuple(
        Frozen(row.id, row.account_id, row.channel, row.state)
        for row in held
        if row.state in FROZEN
    )
    return TakenBack(tuple(row.id for row in moving), frozen)


def sweep_unapproved(tx: Tx, now: datetime, *, limit: int = BATCH) -> int:
    """Call missed what nobody approved by its time; return how many, `limit` at most."""
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE post_id IS NOT NULL AND state IN ('draft', 'scheduled') AND state = 'draft'
            AND NOT approved AND due_at <= :now
        ORDER BY due_at LIMIT :limit {skip_locked}
        """,  # noqa: S608 - put together from constants
        now=now,
        limit=limit,
    )
    missed = end_waiting(tx, now, read_values(Delivery, rows), State.MISSED, NOT_IN_TIME)
    _tell_missed(tx, now, [(*each.delivery.key, each.delivery.lease + 1) for each in missed])
    return len(missed)


def _approved(row: Delivery, *, late: bool) -> Move:
    if row.state is not State.DRAFT:
        return Move(row, row.state, Changes(approved=True))
    if late:
        return Move(row, State.MISSED, Changes(approved=True, reason=NOT_IN_TIME))
    return Move(row, State.SCHEDULED, Changes(approved=True, reason=None))


def _grace(tx: Tx, workspace_id: str, drafts: Sequence[Delivery]) -> dict[str, timedelta]:
    accounts = sorted({row.account_id for row in drafts})
    rows = tx.all(
        """
        SELECT account.id, grace_minutes FROM TABLE(:ids) AS asked (id text)
        JOIN account ON account.workspace_id = :workspace_id AND account.id = asked.id
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in accounts],
    )
    return {row["id"]: timedelta(minutes=row["grace_minutes"]) for row in rows}


def _tell_missed(tx: Tx, now: datetime, missed: Sequence[tuple[str, str, int]]) -> None:
    announce(
        tx,
        now,
        [
            DeliveryEvent(
                workspace_id=workspace_id,
                id=id_,
                lease=lease,
                state=State.MISSED,
                reason=NOT_IN_TIME,
            )
            for workspace_id, id_, lease in missed
        ],
    )
