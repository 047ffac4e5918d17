"""Stops and starts a whole workspace, with a reason that everybody sees.

A stop is one flag that every permit asks for; calls under way finish. A start takes the same choice as a
resume for what came due meanwhile, for every account, in the transaction that lifts the stop: no flood.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.db import audit
from cadenza.deliveries.resume_plan import SPACING
from cadenza.queues.model import locks
from cadenza.queues.resume import ResumeChoice, Resumed, resume
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Stopped:
    """Nothing more leaves; `fresh` is false when it was stopped before (the first reason stays)."""

    reason: str
    since: datetime
    under_way: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class Started:
    """It runs again; what each account did, and the accounts that could not be resumed with why."""

    resumed: dict[str, Resumed]
    left: dict[str, str]
    fresh: bool


@dataclass(frozen=True, slots=True)
class NoWorkspace:
    """There is no workspace of that id."""


def stop(
    tx: Tx, now: datetime, *, workspace_id: str, reason: str, by: str
) -> Stopped | NoWorkspace:
    """Let nothing of the workspace leave from here on."""
    fresh = tx.run(
        """
        UPDATE workspace SET stopped_at = :now, stop_reason = :reason
        WHERE id = :workspace_id AND stopped_at IS NULL
        """,
        now=now,
        reason=reason,
        workspace_id=workspace_id,
    )
    row = tx.one("SELECT stopped_at, stop_reason FROM workspace WHERE id = :id", id=workspace_id)
    if row is None:
        return NoWorkspace()
    if fresh:
        audit.record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="workspace.stop",
            subject_id=workspace_id,
            after={"reason": reason},
        )
    under_way: int = tx.value(
        "SELECT count(*) AS n FROM delivery WHERE workspace_id = :id AND state = 'sending' "
        "AND leased_until IS NOT NULL",
        id=workspace_id,
    )
    return Stopped(row["stop_reason"], row["stopped_at"], under_way, bool(fresh))


def all_accounts(tx: Tx, now: datetime, *, workspace_id: str) -> list[str]:
    """Name the accounts whose locks `start` wants."""
    rows = tx.all(
        "SELECT id FROM account WHERE workspace_id = :id ORDER BY id",
        id=workspace_id,
    )
    return [row["id"] for row in rows]


def start_locks(workspace_id: str, accounts: list[str]) -> list[str]:
    """Name the locks of a start."""
    return locks(workspace_id, *accounts)


def start(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    by: str,
    choice: ResumeChoice = ResumeChoice.SHIFT,
    spacing: timedelta = SPACING,
) -> Started | NoWorkspace:
    """Lift the stop; accounts that a person paused stay paused, what came due in the others is planned."""
    lifted = tx.run(
        """
        UPDATE workspace SET stopped_at = NULL, stop_reason = NULL
        WHERE id = :workspace_id AND stopped_at IS NOT NULL
        """,
        workspace_id=workspace_id,
    )
    if not lifted:
        there = tx.value("SELECT id FROM workspace WHERE id = :id", id=workspace_id)
        return NoWorkspace() if there is None else Started({}, {}, fresh=False)
    resumed: dict[str, Resumed] = {}
    left: dict[str, str] = {}
    for account_id in _to_resume(tx, workspace_id):
        answer = resume(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=by,
            choice=choice,
            spacing=spacing,
            stopped=True,
        )
        if isinstance(answer, Resumed):
            resumed[account_id] = answer
        else:
            left[account_id] = getattr(answer, "message", None) or f"the account is {answer}"
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="workspace.start",
        subject_id=workspace_id,
        after={"choice": choice.value, "queues": len(resumed)},
    )
    return Started(resumed, left, fresh=True)


def _to_resume(tx: Tx, workspace_id: str) -> list[str]:
    """Name the accounts that no person paused: those with a weekly schedule, and those timed by hand only."""
    rows = tx.all(
        """
        SELECT account.id FROM account JOIN lane
            ON lane.workspace_id = account.workspace_id AND lane.id = 'account:' || account.id
        WHERE account.workspace_id = :workspace_id AND account.state <> 'disabled'
            AND NOT lane.paused
        ORDER BY account.id
        """,
        workspace_id=workspace_id,
    )
    return [row["id"] for row in rows]
