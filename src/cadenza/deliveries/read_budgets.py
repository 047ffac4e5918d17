"""Reads the budgets that calls take from, with what is used of them, for many deliveries at once.

A call takes from its account's rules and from those of its campaign or sequence.
A budget's key names its rule: `post:day` of the account, `campaign:7 post:rate` of a campaign; calendar periods
are those of the account's zone. A rolling day is counted from the ledger itself, so only accounts have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from cadenza.accounts.model import Account
from cadenza.core.budgets import Budget, Counted, MinGap, Period, Rate, Rolling, period_key
from cadenza.core.zones import get_zone
from cadenza.deliveries.daily_cap import NETWORK, WARMING, daily_cap
from cadenza.deliveries.model import Action, Delivery, account_scope
from cadenza.deliveries.pace import AccountPace, read_paces
from cadenza.sql.tx import Row, Tx

_DAY = timedelta(days=1)
_NOTES = {
    WARMING: ", while the account warms up",
    NETWORK: ", which is what the network bears",
}
PERIODS = frozenset(period.value for period in Period)

Scope: TypeAlias = tuple[str, str]  # a workspace, and a scope in it


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A delivery whose budgets are wanted, and its account."""

    account: Account
    delivery: Delivery

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes whose rules hold for it."""
        own, beside = account_scope(self.account.id), self.delivery.scope
        return (own,) if beside == own else (own, beside)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of `budget`, as it holds for a mode and at an instant."""

    workspace_id: str
    scope: str
    action: str
    mode: str
    kind: str
    period: str

    @property
    def row(self) -> tuple[str, str, str, str, str, str]:
        """The key of its row of `bucket`."""
        return (self.workspace_id, self.scope, self.action, self.mode, self.kind, self.period)


def key_of(scope: str, action: str, kind: str) -> str:
    """Name a budget for people; an account's own needs no scope in its name."""
    return f"{action}:{kind}" if scope.startswith("account:") else f"{scope} {action}:{kind}"


def rule_of(budget: Budget, delivery: Delivery) -> Rule:
    """Return the rule that a budget of a delivery was read from."""
    scope, _, rest = budget.key.rpartition(" ")
    action, _, kind = rest.partition(":")
    period = budget.used_in if isinstance(budget, Counted) else ""
    own = account_scope(delivery.account_id)
    return Rule(delivery.workspace_id, scope or own, action, delivery.mode, kind, period)


def read_budgets(
    tx: Tx, now: datetime, requested: Sequence[BudgetRequest]
) -> dict[tuple[str, str], tuple[Budget, ...]]:
    """Return each delivery's budgets by its workspace and id."""
    rules = _rules(tx, requested)
    wanted: dict[tuple[str, str], list[tuple[Rule, Row, BudgetRequest]]] = {}
    for one in requested:
        workspace_id, action = one.delivery.workspace_id, one.delivery.action
        wanted[workspace_id, one.delivery.id] = [
            (_rule(now, row, one), row, one)
            for scope in one.scopes
            for row in rules.get((workspace_id, scope), ())
            if row["action"] in (action, "*")
        ]
    paces = _paces(tx, requested)
    rules_asked = [rule for found in wanted.values() for rule, _, _ in found]
    buckets = _buckets(tx, [*rules_asked, *(rule for rule, _ in paces.values())])
    return {
        key: (
            *(_budget(tx, now, rule, row, one, buckets) for rule, row, one in found),
            *_pace(now, paces.get(key), buckets),
        )
        for key, found in wanted.items()
    }


def _paces(
    tx: Tx, requested: Sequence[BudgetRequest]
) -> dict[tuple[str, str], tuple[Rule, AccountPace]]:
    """Find the paces of accounts that their network slowed down; tests and posts are not slowed."""
    live = [
        one.delivery
        for one in requested
        if one.delivery.mode == "live" and one.delivery.action is not Action.POST
    ]
    found = read_paces(tx, {each.account_key for each in live}) if live else {}
    return {
        each.key: (
            Rule(each.workspace_id, account_scope(each.account_id), "*", each.mode, "pace", ""),
            pace,
        )
        for each in live
        if (pace := found.get(each.account_key)) is not None
    }


def _pace(
    now: datetime, pace: tuple[Rule, AccountPace] | None, buckets: Mapping[tuple[str, ...], Row]
) -> tuple[Budget, ...]:
    if pace is None:
        return ()
    rule, slowed = pace
    bucket = buckets.get(rule.row)
    budget = slowed.budget(now, None if bucket is None else bucket["free_at"])
    return () if budget is None else (budget,)


def _rules(tx: Tx, requested: Sequence[BudgetRequest]) -> dict[Scope, list[Row]]:
    scopes = {(one.delivery.workspace_id, scope) for one in requested for scope in one.scopes}
    rules: dict[Scope, list[Row]] = {}
    for row in tx.all(
        """
        SELECT budget.* FROM TABLE(:scopes) AS asked (workspace_id text, scope text)
        JOIN budget ON budget.workspace_id = asked.workspace_id AND budget.scope = asked.scope
        """,
        scopes=sorted(scopes),
    ):
        rules.setdefault((row["workspace_id"], row["scope"]), []).append(row)
    return rules


def _rule(now: datetime, row: Row, one: BudgetRequest) -> Rule:
    kind = row["kind"]
    zone = get_zone(one.account.zone)
    period = period_key(Period(kind), now, zone) if kind in PERIODS else ""
    return Rule(row["workspace_id"], row["scope"], row["action"], one.delivery.mode, kind, period)


def _buckets(tx: Tx, rules: Sequence[Rule]) -> dict[tuple[str, ...], Row]:
    if not rules:
        return {}
    rows = tx.all(
        """
        SELECT bucket.* FROM TABLE(:rules) AS asked (
            workspace_id text, scope text, action text, mode text, kind text, period text
        ) JOIN bucket ON bucket.workspace_id = asked.workspace_id AND bucket.scope = asked.scope
            AND bucket.action = asked.action AND bucket.mode = asked.mode AND bucket.kind = asked.kind
            AND bucket.period = asked.period
        """,
        rules=sorted({rule.row for rule in rules}),
    )
    return {
        (r["workspace_id"], r["scope"], r["action"], r["mode"], r["kind"], r["period"]): r
        for r in rows
    }


def _budget(
    tx: Tx,
    now: datetime,
    rule: Rule,
    row: Row,
    one: BudgetRequest,
    buckets: Mapping[tuple[str, ...], Row],
) -> Budget:
    key, amount = key_of(rule.scope, rule.action, rule.kind), row["amount"]
    bucket = buckets.get(rule.row)
    free_at: datetime | None = None if bucket is None else bucket["free_at"]
    match rule.kind:
        case "gap":
            return MinGap(key, timedelta(seconds=amount), free_at)
        case "rate":
            return Rate(key, timedelta(seconds=row["per_seconds"] or 60) / amount, due=free_at)
        case "rolling_day":
            return Rolling(key, amount, taken=_recent(tx, now, rule, one.account))
        case kind:
            used = 0 if bucket is None else bucket["taken"]
            zone, note = get_zone(one.account.zone), ""
            if kind == Period.DAY and rule.scope == account_scope(one.account.id):
                cap = daily_cap(tx, now, one.account, rule.action, amount)
                amount, note = cap.amount, _NOTES.get(cap.lowered_by or "", "")
            return Counted(
                key, amount, Period(kind), zone, used=used, used_in=rule.period, note=note
            )


def _recent(tx: Tx, now: datetime, rule: Rule, account: Account) -> tuple[datetime, ...]:
    rows = tx.all(
        """
        SELECT reserved_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND mode = :mode AND counts
            AND (action = :action OR :action = '*') AND reserved_at > :since
        ORDER BY reserved_at
        """,
        workspace_id=rule.workspace_id,
        account_id=account.id,
        action=rule.action,
        mode=rule.mode,
        since=now - _DAY,
    )
    return tuple(row["reserved_at"].astimezone(UTC) for row in rows)
