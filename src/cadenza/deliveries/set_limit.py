"""Sets what an account or a campaign's lane may do, from the next permit on.

What was counted already counts under the new rule too: counters of the periods that run now are written from
the ledger, also when an account moves to another zone, whose days are others. A rate or gap that is replaced
leaves no wait behind that only the old one asked for, and lanes that rested for want of room are looked at again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cadenza.core.budgets import Period, period_key
from cadenza.core.zones import get_zone
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.model import account_scope
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

    message: str


def locks_of(workspace_id: str, scope: str) -> list[str]:
    """Name what permits of that scope hold."""
    kind, _, id_ = scope.partition(":")
    account = kind == "account"
    return [f"account:{workspace_id}:{id_}" if account else f"lane:{workspace_id}:{scope}"]


def set_limit(
    tx: Tx, now: datetime, *, workspace_id: str, limit: Limit, by: str
) -> LimitSet | NotALimit:
    """Set or replace a rule. Run under `locks_of`."""
    if (message := _problem(limit)) is not None:
        return NotALimit(message)
    old = _put(tx, now, workspace_id, limit)
    _look_again(tx, workspace_id, limit.scope)
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


def set_limits(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, limits: Sequence[Limit], by: str
) -> LimitSet | NotALimit:
    """Replace all limits of an account. Run under `locks_of`."""
    scope = account_scope(account_id)
    for limit in limits:
        if (message := _problem(limit)) is not None:
            return NotALimit(message)
    before = list_limits(tx, workspace_id, scope)
    kept = {(limit.action, limit.kind) for limit in limits}
    tx.run_each(
        """
        DELETE FROM budget WHERE workspace_id = :workspace_id AND scope = :scope
            AND action = :action AND kind = :kind
        """,
        [
            {"workspace_id": workspace_id, "scope": scope, "action": action, "kind": kind}
            for action, kind in ((row["action"], row["kind"]) for row in before)
            if (action, kind) not in kept
        ],
    )
    for limit in limits:
        _put(tx, now, workspace_id, limit)
    _look_again(tx, workspace_id, scope)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="account.limits",
        subject_id=account_id,
        before={"limits": before},
        after={"limits": list_limits(tx, workspace_id, scope)},
    )
    return LimitSet()


def list_limits(tx: Tx, workspace_id: str, scope: str) -> list[Row]:
    """List the rules of a scope."""
    return tx.all(
        """
        SELECT action, kind, amount, per_seconds FROM budget
        WHERE workspace_id = :workspace_id AND scope = :scope ORDER BY action, kind
        """,
        workspace_id=workspace_id,
        scope=scope,
    )


def recount(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> None:
    """Count again what an account used, after its zone was changed: its days begin at other instants.

    Lanes that it shares with others count by its days too.
    """
    own = account_scope(account_id)
    rules = tx.all(
        """
        SELECT scope, action, kind, amount, per_seconds FROM budget
        WHERE workspace_id = :workspace_id AND kind IN ('hour', 'day', 'week') AND (
            scope = :own OR scope IN (
                SELECT lane_id FROM activity WHERE workspace_id = :workspace_id
                    AND account_id = :account_id AND reserved_at > :since AND lane_id IS NOT NULL
            )
        )
        ORDER BY scope, action, kind
        """,
        workspace_id=workspace_id,
        own=own,
        account_id=account_id,
        since=now - LOOK_BACK,
    )
    for rule in rules:
        _count_from_ledger(tx, now, workspace_id, Limit(**rule))
    _look_again(tx, workspace_id, own)


def _look_again(tx: Tx, workspace_id: str, scope: str) -> None:
    account = scope.removeprefix("account:")
    lanes.unpark(
        tx,
        accounts=[(workspace_id, account)] if account != scope else [],
        scopes=[(workspace_id, scope)],
        by=("budgets",),
    )


def _put(tx: Tx, now: datetime, workspace_id: str, limit: Limit) -> Row | None:
    """Write a rule and what it means for what was used already; return the one that it replaces."""
    rule: dict[str, Any] = {
        "workspace_id": workspace_id,
        "scope": limit.scope,
        "action": limit.action,
        "kind": limit.kind,
    }
    old = tx.one(
        """
        SELECT amount, per_seconds FROM budget WHERE workspace_id = :workspace_id AND scope = :scope
            AND action = :action AND kind = :kind
        """,
        **rule,
    )
    tx.run(
        """
        INSERT INTO budget (workspace_id, scope, action, kind, amount, per_seconds)
        VALUES (:workspace_id, :scope, :action, :kind, :amount, :per_seconds)
        ON CONFLICT (workspace_id, scope, action, kind)
        DO UPDATE SET amount = excluded.amount, per_seconds = excluded.per_seconds
        """,
        amount=limit.amount,
        per_seconds=limit.per_seconds,
        **rule,
    )
    if limit.kind in set(Period):
        _count_from_ledger(tx, now, workspace_id, limit)
    else:
        _shorten_waits(tx, now, rule, limit, old)
    return old


def _problem(limit: Limit) -> str | None:
    if limit.kind not in KINDS:
        return f"{limit.kind} is no kind of limit; there are {', '.join(sorted(KINDS))}."
    if limit.amount < 0 or (limit.kind == "rate" and limit.amount < 1):
        return "Give a number that can be counted; to stop sending, pause the lane."
    if limit.kind == "rolling_day" and not limit.scope.startswith("account:"):
        return "A rolling day is counted for accounts alone; give the lane a day."
    return None


def _count_from_ledger(tx: Tx, now: datetime, workspace_id: str, limit: Limit) -> None:
    """Write the counters of the periods that run now; what earlier ones counted decides nothing any more."""
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
    keyed = ((row["mode"], row["reserved_at"], get_zone(row["zone"])) for row in rows)
    taken = Counter(
        (mode, key)
        for mode, at, zone in keyed
        if (key := period_key(period, at, zone)) == period_key(period, now, zone)
    )
    rule = {
        "workspace_id": workspace_id,
        "scope": limit.scope,
        "action": limit.action,
        "kind": limit.kind,
    }
    tx.run(
        """
        DELETE FROM bucket WHERE workspace_id = :workspace_id AND scope = :scope
            AND action = :action AND kind = :kind
        """,
        **rule,
    )
    tx.run(
        """
        INSERT INTO bucket (workspace_id, scope, action, mode, kind, period, taken)
        SELECT :workspace_id, :scope, :action, mode, :kind, period, taken
        FROM TABLE(:taken) AS counted (mode text, period text, taken integer) WHERE true
        """,
        taken=[(*key, count) for key, count in sorted(taken.items())],
        **rule,
    )


def _shorten_waits(
    tx: Tx, now: datetime, rule: dict[str, Any], limit: Limit, old: Row | None
) -> None:
    """Let nothing wait longer than the new rule asks; a call under way keeps its gap shut."""
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
        elif old is None:  # it was there once, and was taken away
            free_at = min(row["free_at"], now + timedelta(seconds=limit.amount))
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
