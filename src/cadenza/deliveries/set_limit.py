"""Sets what an account or a campaign's lane may do, from the next permit on.

What was counted already counts under the new rule too: its counters are written from the ledger. A rate
or gap that is replaced leaves no wait behind that only the old one asked for, and lanes that rested for
want of room are looked at again.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.budgets import Period, period_key
from cadenza.core.zones import get_zone
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.sql.tx import Row, Tx

KINDS = frozenset({"hour", "day", "week", "rolling_day", "rate", "gap"})
LOOK_BACK = timedelta(days=8)  # covers the longest period that is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One rule: `amount` in a period, or per `per_seconds` for a rate, or seconds for a gap."""

    scope: str  # `account:<id>`, or a lane's name
    action: str  # or "*": all of them together
    kind: str
    amount: int
    per_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class LimitSet:
    """It holds from the next permit on."""


@dataclass(frozen=True, slots=True)
class NotALimit:
    """It makes no sense as it is."""

    says: str


def locks_of(workspace_id: str, scope: str) -> list[str]:
    """Name what permits of that scope hold."""
    kind, _, id_ = scope.partition(":")
    account = kind == "account"
    return [f"account:{workspace_id}:{id_}" if account else f"lane:{workspace_id}:{scope}"]


def set_limit(
    tx: Tx, now: datetime, *, workspace_id: str, limit: Limit, by: str
) -> LimitSet | NotALimit:
    """Set or replace a rule."""
    if (says := _problem(limit)) is not None:
        return NotALimit(says)
    rule = {"workspace_id": workspace_id, "scope": limit.scope, "action": limit.action}
    old = tx.one(
        """
        SELECT amount, per_seconds FROM budget WHERE workspace_id = :workspace_id AND scope = :scope
            AND action = :action AND kind = :kind
        """,
        kind=limit.kind,
        **rule,
    )
    tx.run(
        """
        INSERT INTO budget (workspace_id, scope, action, kind, amount, per_seconds)
        VALUES (:workspace_id, :scope, :action, :kind, :amount, :per_seconds)
        ON CONFLICT (workspace_id, scope, action, kind)
        DO UPDATE SET amount = excluded.amount, per_seconds = excluded.per_seconds
        """,
        kind=limit.kind,
        amount=limit.amount,
        per_seconds=limit.per_seconds,
        **rule,
    )
    if limit.kind in set(Period):
        _count_from_ledger(tx, now, workspace_id, limit)
    elif old is not None:
        _shorten_waits(tx, now, workspace_id, limit, old)
    account = limit.scope.removeprefix("account:")
    lanes.unpark(
        tx,
        accounts=[(workspace_id, account)] if account != limit.scope else [],
        lanes=[(workspace_id, limit.scope)],
        by=("budgets",),
    )
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="limit.set",
        subject_id=f"{limit.scope} {limit.action}:{limit.kind}",
        before=old,
        after={"amount": limit.amount, "per_seconds": limit.per_seconds},
    )
    return LimitSet()


def _problem(limit: Limit) -> str | None:
    if limit.kind not in KINDS:
        return f"{limit.kind} is no kind of limit; there are {', '.join(sorted(KINDS))}."
    if limit.amount < 0 or (limit.kind == "rate" and limit.amount < 1):
        return "Give a number that can be counted; to stop sending, pause the lane."
    if limit.kind == "rolling_day" and not limit.scope.startswith("account:"):
        return "A rolling day is counted for accounts alone; give the lane a day."
    return None


def _count_from_ledger(tx: Tx, now: datetime, workspace_id: str, limit: Limit) -> None:
    period = Period(limit.kind)
    rows = tx.all(
        """
        SELECT activity.mode, activity.reserved_at, account.zone FROM activity JOIN account
            ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        WHERE activity.workspace_id = :workspace_id AND counts AND reserved_at > :since
            AND (account_id = :account_id OR lane_id = :scope) AND (action = :action OR :action = '*')
        """,
        workspace_id=workspace_id,
        account_id=limit.scope.removeprefix("account:"),
        scope=limit.scope,
        action=limit.action,
        since=now - LOOK_BACK,
    )
    taken = Counter(
        (row["mode"], period_key(period, row["reserved_at"], get_zone(row["zone"]))) for row in rows
    )
    tx.run(
        """
        INSERT INTO bucket (workspace_id, scope, action, mode, kind, period, taken)
        SELECT :workspace_id, :scope, :action, mode, :kind, period, taken
        FROM TABLE(:taken) AS counted (mode text, period text, taken integer) WHERE true
        ON CONFLICT (workspace_id, scope, action, mode, kind, period) DO UPDATE SET taken = excluded.taken
        """,
        workspace_id=workspace_id,
        scope=limit.scope,
        action=limit.action,
        kind=limit.kind,
        taken=[(*key, count) for key, count in sorted(taken.items())],
    )


def _shorten_waits(tx: Tx, now: datetime, workspace_id: str, limit: Limit, old: Row) -> None:
    """Let nothing wait longer than the new rule asks; a call under way keeps its gap shut."""
    rule = {
        "workspace_id": workspace_id,
        "scope": limit.scope,
        "action": limit.action,
        "kind": limit.kind,
    }
    waits = tx.all(
        """
        SELECT mode, free_at FROM bucket WHERE workspace_id = :workspace_id AND scope = :scope
            AND action = :action AND kind = :kind AND free_at IS NOT NULL
        """,
        **rule,
    )
    for row in waits:
        if limit.kind == "rate":
            every = timedelta(seconds=limit.per_seconds or 60) / limit.amount
            free_at = min(row["free_at"], now + every)
        else:
            free_at = row["free_at"] + timedelta(seconds=limit.amount - old["amount"])
        tx.run(
            """
            UPDATE bucket SET free_at = :free_at WHERE workspace_id = :workspace_id AND scope = :scope
                AND action = :action AND kind = :kind AND mode = :mode
            """,
            free_at=free_at,
            mode=row["mode"],
            **rule,
        )
