"""Replays the ledger against the rules: the worst window each account ever reached, and drift.

The ledger is the truth. For every rule the fullest period, the fullest rolling day and the smallest gap are
computed from it alone, and for every provider's rate over all accounts together; counters that say something
else, or are missing in the period that runs, are drift, which is an error.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil

from cadenza.core.budgets import Period, period_key
from cadenza.core.zones import get_zone
from cadenza.deliveries.permit import LATEST, SEND_TIMEOUT
from cadenza.sql.tx import Row, Tx

DAY = timedelta(days=1)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Worst:
    """One rule, and the worst that was ever reached under it."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    limit: int
    reached: float
    at: str

    @property
    def broken(self) -> bool:
        """Say whether the rule was ever broken."""
        return self.reached < self.limit if self.kind == "gap" else self.reached > self.limit


@dataclass(frozen=True, slots=True)
class Drift:
    """A counter that does not say what the ledger says."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    period: str
    counter: int
    ledger: int


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found."""

    worst: tuple[Worst, ...]
    drift: tuple[Drift, ...]

    @property
    def clean(self) -> bool:
        """Say whether every rule held and every counter tells the truth."""
        return not self.drift and not any(worst.broken for worst in self.worst)


def audit_limits(tx: Tx, now: datetime) -> Audit:
    """Audit every rule of every account."""
    worst: list[Worst] = []
    drift: list[Drift] = []
    for rule in tx.all(
        """
        SELECT budget.*, coalesce(account.zone, 'UTC') AS zone, account.id AS account_id
        FROM budget LEFT JOIN account
            ON account.workspace_id = budget.workspace_id AND 'account:' || account.id = budget.scope
        ORDER BY budget.workspace_id, budget.scope, budget.action, budget.kind
        """
    ):
        ledger = _ledger(tx, rule)
        if ledger:
            worst.append(_worst(rule, ledger))
        if rule["kind"] in set(Period):
            drift += _drift(tx, now, rule, ledger)
    for rate in tx.all("SELECT * FROM provider_rate ORDER BY provider"):
        worst += _worst_of_provider(tx, rate)
    return Audit(tuple(worst), tuple(drift))


def _worst_of_provider(tx: Tx, rate: Row) -> list[Worst]:
    """Find the fullest span of all accounts' calls; two seconds' worth of starts may come late."""
    rows = tx.all(
        """
        SELECT reserved_at FROM activity JOIN account
            ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        WHERE provider = :provider AND attempt_id IS NOT NULL AND reserved_at >= :since
        ORDER BY reserved_at
        """,
        provider=rate["provider"],
        since=rate["set_at"] or LONG_AGO,
    )
    if not rows:
        return []
    span = timedelta(seconds=rate["per_seconds"])
    reached, at = _fullest_span([row["reserved_at"] for row in rows], span)
    late = ceil(LATEST / span * rate["amount"])
    scope = f"provider:{rate['provider']}"
    return [Worst("", scope, "*", "rate", rate["amount"] + late, reached, at)]


def _ledger(tx: Tx, rule: Row) -> list[Row]:
    return tx.all(
        """
        SELECT activity.reserved_at, activity.settled_at, account.zone, attempt.ended_at,
            attempt.deadline_at, attempt.repeated_until
        FROM activity
        JOIN account
            ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        LEFT JOIN attempt
            ON attempt.workspace_id = activity.workspace_id AND attempt.id = activity.attempt_id
        WHERE activity.workspace_id = :workspace_id AND mode = 'live' AND counts
            AND (account_id = :account_id OR lane_id = :scope) AND (action = :action OR :action = '*')
        ORDER BY reserved_at
        """,
        workspace_id=rule["workspace_id"],
        account_id=rule["account_id"] or "",
        scope=rule["scope"],
        action=rule["action"],
    )


def _worst(rule: Row, ledger: list[Row]) -> Worst:
    instants = [row["reserved_at"] for row in ledger]
    match rule["kind"]:
        case "gap":
            reached, at = _smallest_gap(ledger)
        case "rate":
            span = timedelta(seconds=rule["per_seconds"] or 60)
            reached, at = _fullest_span(instants, span)
        case "rolling_day":
            reached, at = _fullest_span(instants, DAY)
        case kind:
            periods = _count(ledger, Period(kind))
            at, reached = max(periods.items(), key=lambda item: item[1])
    return Worst(
        rule["workspace_id"],
        rule["scope"],
        rule["action"],
        rule["kind"],
        rule["amount"],
        reached,
        at,
    )


def _count(ledger: list[Row], period: Period) -> Counter[str]:
    return Counter(period_key(period, row["reserved_at"], get_zone(row["zone"])) for row in ledger)


def _fullest_span(instants: list[datetime], span: timedelta) -> tuple[int, str]:
    most, at, first = 0, instants[0], 0
    for last, instant in enumerate(instants):
        while instants[first] <= instant - span:
            first += 1
        if last - first + 1 > most:
            most, at = last - first + 1, instants[first]
    return most, at.isoformat()


def _smallest_gap(ledger: list[Row]) -> tuple[float, str]:
    """From the end of a call to the begin of the next, as receivers see it."""
    calls = sorted(call for row in ledger for call in _calls(row))
    gaps = [((after[0] - before[1]).total_seconds(), after[0]) for before, after in pairwise(calls)]
    if not gaps:
        return float("inf"), ledger[0]["reserved_at"].isoformat()
    smallest, at = min(gaps)
    return smallest, at.isoformat()


def _calls(row: Row) -> Iterator[tuple[datetime, datetime]]:
    """Say when calls began and ended: the one that was permitted, and the last that was made again."""
    began, settled, deadline = row["reserved_at"], row["settled_at"], row["deadline_at"]
    ended = row["ended_at"] or settled or began
    # What is known only later had ended by its deadline.
    yield began, ended if deadline is None else min(ended, deadline)
    if row["repeated_until"] is not None:
        again = row["repeated_until"] - SEND_TIMEOUT
        until = row["repeated_until"] if settled is None or settled < again else settled
        yield again, min(until, row["repeated_until"])


def _drift(tx: Tx, now: datetime, rule: Row, ledger: list[Row]) -> list[Drift]:
    period = Period(rule["kind"])
    truth = _count(ledger, period)
    counters = {
        row["period"]: row["taken"]
        for row in tx.all(
            """
            SELECT period, taken FROM bucket
            WHERE workspace_id = :workspace_id AND scope = :scope AND action = :action
                AND kind = :kind AND mode = 'live'
            """,
            workspace_id=rule["workspace_id"],
            scope=rule["scope"],
            action=rule["action"],
            kind=rule["kind"],
        )
    }
    # Earlier periods may be older than the rule: of those only what is counted can be wrong.
    for key in {period_key(period, now, get_zone(row["zone"])) for row in ledger} & truth.keys():
        counters.setdefault(key, 0)
    return [
        Drift(
            rule["workspace_id"],
            rule["scope"],
            rule["action"],
            rule["kind"],
            key,
            counter,
            truth[key],
        )
        for key, counter in sorted(counters.items())
        if counter != truth[key]
    ]
