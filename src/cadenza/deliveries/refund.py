"""Gives budgets back what calls did not use, and counts gaps from the end of a call.

Counters are derived: what is given back here is what `limits audit` would find in the ledger.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from cadenza.core.budgets import MinGap, Period, period_key, refusal_of
from cadenza.core.zones import get_zone
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Delivery, account_scope
from cadenza.deliveries.read_budgets import key_of
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

_ALL = "*"


def refund(tx: Tx, attempts: Sequence[Key]) -> None:
    """Give one back to every counted budget that an attempt took from, in the period it took it in."""
    if not attempts:
        return
    rows = tx.all(
        """
        SELECT activity.workspace_id, activity.account_id, activity.action, activity.mode,
            activity.lane_id, activity.reserved_at, account.zone
        FROM TABLE(:attempts) AS asked (workspace_id text, id text)
        JOIN activity ON activity.workspace_id = asked.workspace_id AND activity.attempt_id = asked.id
        JOIN account ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        """,
        attempts=sorted(set(attempts)),
    )
    back = Counter(bucket for row in rows for bucket in _buckets(row))
    tx.run(
        """
        UPDATE bucket SET taken = CASE WHEN taken > given.back THEN taken - given.back ELSE 0 END
        FROM TABLE(:given) AS given (
            workspace_id text, scope text, action text, mode text, kind text, period text, back bigint
        )
        WHERE bucket.workspace_id = given.workspace_id AND bucket.scope = given.scope
            AND bucket.action = given.action AND bucket.mode = given.mode AND bucket.kind = given.kind
            AND bucket.period = given.period
        """,
        given=sorted((*bucket, count) for bucket, count in back.items()),
    )
    # Lanes that were sent to rest because a budget was full may go on with what came back.
    lanes.unpark(
        tx,
        accounts=[(row["workspace_id"], row["account_id"]) for row in rows],
        scopes=[(row["workspace_id"], row["lane_id"]) for row in rows],
        by=("budgets",),
    )


def _buckets(row: Row) -> list[tuple[str, ...]]:
    zone = get_zone(row["zone"])
    scopes = {account_scope(row["account_id"]), row["lane_id"] or account_scope(row["account_id"])}
    return [
        (
            row["workspace_id"],
            scope,
            action,
            row["mode"],
            period.value,
            period_key(period, row["reserved_at"], zone),
        )
        for scope in scopes
        for action in (row["action"], _ALL)
        for period in Period
    ]


class GapCall(NamedTuple):
    """A call that armed gaps until its deadline."""

    workspace_id: str
    account_id: str
    scope: str
    action: str
    mode: str
    deadline_at: datetime

    @classmethod
    def of(cls, delivery: Delivery, deadline_at: datetime) -> Self:
        """Say which gaps a delivery's call armed."""
        return cls(
            delivery.workspace_id,
            delivery.account_id,
            delivery.scope,
            delivery.action.value,
            delivery.mode,
            deadline_at,
        )


def rearm_gaps(tx: Tx, calls: Sequence[GapCall], *, ended: datetime) -> None:
    """Count minimum gaps from the end of calls, as receivers see it.

    Only while a gap is this attempt's
    own: late evidence does not shorten what a newer call armed.
    """
    scopes = {
        (call.workspace_id, scope)
        for call in calls
        for scope in (account_scope(call.account_id), call.scope)
    }
    if not scopes:
        return
    rules = tx.all(
        """
        SELECT budget.workspace_id, budget.scope, action, amount
        FROM TABLE(:scopes) AS asked (workspace_id text, scope text)
        JOIN budget ON budget.workspace_id = asked.workspace_id AND budget.scope = asked.scope
        WHERE kind = 'gap'
        """,
        scopes=sorted(scopes),
    )
    armed = _latest(calls, rules)
    if not armed:
        return
    tx.run(
        """
        UPDATE bucket SET free_at = new.frees_at
        FROM TABLE(:new) AS new (
            workspace_id text, scope text, action text, mode text, frees_at timestamptz, armed_until timestamptz
        )
        WHERE bucket.workspace_id = new.workspace_id AND bucket.scope = new.scope
            AND bucket.action = new.action AND bucket.mode = new.mode AND kind = 'gap' AND period = ''
            AND (free_at IS NULL OR free_at <= new.armed_until)
        """,
        new=[
            (*bucket, ended + gap, deadline + gap)
            for bucket, (deadline, gap) in sorted(armed.items())
        ],
    )
    _rest_others(tx, ended, {bucket[:3]: gap for bucket, (_, gap) in armed.items()})


def _rest_others(tx: Tx, now: datetime, gaps: Mapping[tuple[str, str, str], timedelta]) -> None:
    """Let an account's lanes of campaigns and sequences rest whose next delivery has to wait for a gap."""
    found = tx.all(
        """
        SELECT lane.workspace_id, lane.id, asked.scope, asked.action
        FROM TABLE(:gaps) AS asked (workspace_id text, scope text, account_id text, action text)
        JOIN lane ON lane.workspace_id = asked.workspace_id AND lane.account_id = asked.account_id
            AND lane.scope_id IS NOT NULL AND lane.runnable_at IS NOT NULL
        WHERE asked.action IN ('*', (
            SELECT delivery.action FROM delivery
            WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
                AND state = 'scheduled' AND leased_until IS NULL
            ORDER BY priority, due_at, delivery.id LIMIT 1
        ))
        """,
        gaps=sorted(
            (workspace_id, scope, scope.removeprefix("account:"), action)
            for workspace_id, scope, action in gaps
            if scope.startswith("account:")
        ),
    )
    parks: list[lanes.Park] = []
    for row in found:
        gap = gaps[row["workspace_id"], row["scope"], row["action"]]
        shut = refusal_of(MinGap(key_of(row["scope"], row["action"], "gap"), gap, now + gap), now)
        if shut is not None:
            reason = f"{shut.key}: {shut.reason}"
            parks.append(lanes.Park(row["workspace_id"], row["id"], now + gap, reason, "budgets"))
    lanes.park_all(tx, now, parks)


def _latest(
    calls: Sequence[GapCall], rules: Sequence[Row]
) -> Mapping[tuple[str, str, str, str], tuple[datetime, timedelta]]:
    """Find for each gap the latest deadline among the calls that armed it."""
    by_scope: dict[Key, list[Row]] = {}
    for rule in rules:
        by_scope.setdefault((rule["workspace_id"], rule["scope"]), []).append(rule)
    armed: dict[tuple[str, str, str, str], tuple[datetime, timedelta]] = {}
    for call in calls:
        for scope in {account_scope(call.account_id), call.scope}:
            for rule in by_scope.get((call.workspace_id, scope), ()):
                if rule["action"] not in (call.action, _ALL):
                    continue
                bucket = (call.workspace_id, rule["scope"], rule["action"], call.mode)
                until = (call.deadline_at, timedelta(seconds=rule["amount"]))
                armed[bucket] = max(until, armed.get(bucket, until))
    return armed
