"""Replays the ledger against the rules: the worst window each account ever reached, and drift.

The ledger is the truth. For every rule the fullest period, the fullest rolling day and the smallest gap are
computed from it alone, and for every provider's rate over all accounts together; counters that say something
else, or are missing in the period that runs, are drift, which is an error. Each night the worst so far is kept
(`save_audit`), so that an audit replays some weeks and not years; `whole` replays everything.
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
# Only a gap asks when calls ended and whether one was made again.
CALL_ENDS = ", attempt.ended_at, attempt.deadline_at, attempt.repeated_until"
JOIN_ATTEMPTS = """LEFT JOIN attempt
            ON attempt.workspace_id = activity.workspace_id AND attempt.id = activity.attempt_id"""
EXTERNAL = "external"  # sent elsewhere, and recorded: no call of ours
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
FAR_OFF = datetime(9000, 1, 1, tzinfo=UTC)
SETTLED = timedelta(days=2)  # what was reserved longer ago has been settled


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


def audit_limits(tx: Tx, now: datetime, *, whole: bool = False) -> Audit:
    """Audit every rule of every account; `whole`: from the ledger alone, without what was kept."""
    worst: list[Worst] = []
    drift: list[Drift] = []
    for rule in list_rules(tx, now):
        since, kept = (LONG_AGO, None) if whole else _kept(tx, rule)
        ledger = _ledger(tx, rule, since)
        worst += _merged(kept, _judge(rule, ledger))
        if rule["kind"] in set(Period) and rule["provider"] is None:
            drift += _drift(tx, now, rule, ledger, since)
    return Audit(tuple(worst), tuple(drift))


def list_rules(tx: Tx, _now: datetime) -> list[Row]:
    """List every rule: of accounts and campaigns, then of providers, which hold over all accounts."""
    own = tx.all(
        """
        SELECT budget.*, coalesce(account.zone, 'UTC') AS zone, account.id AS account_id
        FROM budget LEFT JOIN account
            ON account.workspace_id = budget.workspace_id AND 'account:' || account.id = budget.scope
        ORDER BY budget.workspace_id, budget.scope, budget.action, budget.kind
        """
    )
    rates = tx.all("SELECT * FROM provider_rate ORDER BY provider")
    return [
        *({**rule, "provider": None, "set_at": None} for rule in own),
        *(
            {
                "workspace_id": "",
                "scope": f"provider:{rate['provider']}",
                "action": "*",
                "kind": "rate",
                "amount": rate["amount"] + _late(rate),
                "per_seconds": rate["per_seconds"],
                "zone": "UTC",
                "account_id": None,
                "provider": rate["provider"],
                "set_at": rate["set_at"],
            }
            for rate in rates
        ),
    ]


def judge_settled(tx: Tx, now: datetime, *, rule: Row) -> Worst | None:
    """Find the worst of a rule up to an instant before which nothing changes any more."""
    since, kept = _kept(tx, rule)
    return next(iter(_merged(kept, _judge(rule, _ledger(tx, rule, since, now - SETTLED)))), None)


def save_audit(tx: Tx, now: datetime, *, rule: Row, worst: Worst) -> None:
    """Keep what was found: the next audit begins there."""
    tx.run(
        """
        INSERT INTO limit_audited (workspace_id, scope, action, kind, judged_by, until_at, reached, at)
        VALUES (:workspace_id, :scope, :action, :kind, :judged_by, :until, :reached, :at)
        ON CONFLICT (workspace_id, scope, action, kind) DO UPDATE SET judged_by = :judged_by,
            until_at = :until, reached = :reached, at = :at
        """,
        workspace_id=rule["workspace_id"],
        scope=rule["scope"],
        action=rule["action"],
        kind=rule["kind"],
        judged_by=_judged_by(rule),
        until=now - SETTLED,
        reached=worst.reached,
        at=worst.at,
    )


def _kept(tx: Tx, rule: Row) -> tuple[datetime, Worst | None]:
    """Return from when on to replay, and the worst that was kept of what lies before."""
    row = tx.one(
        """
        SELECT until_at, reached, at FROM limit_audited
        WHERE workspace_id = :workspace_id AND scope = :scope AND action = :action AND kind = :kind
            AND judged_by = :judged_by
        """,
        workspace_id=rule["workspace_id"],
        scope=rule["scope"],
        action=rule["action"],
        kind=rule["kind"],
        judged_by=_judged_by(rule),
    )
    if row is None:
        return LONG_AGO, None
    return row["until_at"] - _overlap(rule), _worst_of(rule, row["reached"], row["at"])


def _overlap(rule: Row) -> timedelta:
    """Return what is longer than any period of the rule: one that began before is replayed whole."""
    if rule["kind"] == "rate":
        return timedelta(seconds=rule["per_seconds"] or 60) + DAY
    return 8 * DAY if rule["kind"] == "week" else 2 * DAY


def _judged_by(rule: Row) -> str:
    return f"{rule['zone']} {rule['per_seconds']} {rule['set_at'] and rule['set_at'].isoformat()}"


def _merged(kept: Worst | None, found: Worst | None) -> list[Worst]:
    """Return the worse of the two; of a gap that is the smaller."""
    if kept is None or found is None:
        return [each for each in (kept, found) if each is not None]
    worse = found.reached < kept.reached if kept.kind == "gap" else found.reached > kept.reached
    return [found if worse else kept]


def _late(rate: Row) -> int:
    """Say how many more may show in a span: two seconds' worth of starts may come late."""
    return ceil(LATEST / timedelta(seconds=rate["per_seconds"]) * rate["amount"])


def _ledger(tx: Tx, rule: Row, since: datetime, until: datetime | None = None) -> list[Row]:
    until = until or FAR_OFF
    if rule["provider"] is not None:
        return tx.all(
            """
            SELECT reserved_at, settled_at, account.zone FROM activity JOIN account
                ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
            WHERE provider = :provider AND attempt_id IS NOT NULL AND reserved_at >= :since
                AND reserved_at < :until
            ORDER BY reserved_at
            """,
            provider=rule["provider"],
            since=max(since, rule["set_at"] or LONG_AGO),
            until=until,
        )
    # Whatever an account does is its own; a campaign's lane is asked for by its name.
    whose = "lane_id = :scope" if rule["account_id"] is None else "account_id = :account_id"
    params = (
        {"scope": rule["scope"]}
        if rule["account_id"] is None
        else {"account_id": rule["account_id"]}
    )
    if rule["action"] != "*":
        whose += " AND action = :action"
        params["action"] = rule["action"]
    ends, attempts = (CALL_ENDS, JOIN_ATTEMPTS) if rule["kind"] == "gap" else ("", "")
    return tx.all(
        f"""
        SELECT activity.reserved_at, activity.settled_at, activity.state, account.zone{ends} FROM activity
        JOIN account
            ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        {attempts}
        WHERE activity.workspace_id = :workspace_id AND mode = 'live' AND counts AND {whose}
            AND reserved_at >= :since AND reserved_at < :until
        ORDER BY reserved_at
        """,  # noqa: S608 - constants
        workspace_id=rule["workspace_id"],
        since=since,
        until=until,
        **params,
    )


def _judge(rule: Row, ledger: list[Row]) -> Worst | None:
    return _worst(rule, ledger) if any(row.get("state") != EXTERNAL for row in ledger) else None


def _worst(rule: Row, ledger: list[Row]) -> Worst:
    own = [row for row in ledger if row.get("state") != EXTERNAL]
    instants = [row["reserved_at"] for row in own]
    match rule["kind"]:
        case "gap":
            reached, at = _smallest_gap(own)
        case "rate":
            span = timedelta(seconds=rule["per_seconds"] or 60)
            reached, at = _fullest_span(instants, span)
        case "rolling_day":
            reached, at = _fullest_span(instants, DAY)
        case kind:
            reached, at = _fullest_period(ledger, Period(kind))
    return _worst_of(rule, reached, at)


def _worst_of(rule: Row, reached: float, at: str) -> Worst:
    return Worst(
        rule["workspace_id"],
        rule["scope"],
        rule["action"],
        rule["kind"],
        rule["amount"],
        reached,
        at,
    )


def _fullest_period(ledger: list[Row], period: Period) -> tuple[int, str]:
    """Count what each call of ours found in its period; what was sent elsewhere counts once it was recorded."""
    counted: Counter[str] = Counter()
    most, at = 0, ""
    for row in sorted(ledger, key=_known_at):
        key = period_key(period, row["reserved_at"], get_zone(row["zone"]))
        counted[key] += 1
        if row["state"] != EXTERNAL and counted[key] > most:
            most, at = counted[key], key
    return most, at


def _known_at(row: Row) -> datetime:
    return row["settled_at"] if row["state"] == EXTERNAL else row["reserved_at"]


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


def _drift(tx: Tx, now: datetime, rule: Row, ledger: list[Row], since: datetime) -> list[Drift]:
    period = Period(rule["kind"])
    truth = _count(ledger, period)
    # The first periods of what is replayed are not whole.
    first = (
        ""
        if since == LONG_AGO
        else period_key(period, since + _overlap(rule), get_zone(rule["zone"]))
    )
    counters = {
        row["period"]: row["taken"]
        for row in tx.all(
            """
            SELECT period, taken FROM bucket
            WHERE workspace_id = :workspace_id AND scope = :scope AND action = :action
                AND kind = :kind AND mode = 'live' AND period >= :first
            """,
            workspace_id=rule["workspace_id"],
            scope=rule["scope"],
            action=rule["action"],
            kind=rule["kind"],
            first=first,
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
