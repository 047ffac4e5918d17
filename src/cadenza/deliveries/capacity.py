"""What accounts can send, read off their limits: for estimates, never for a permit."""

from collections.abc import Sequence
from datetime import datetime

from cadenza.accounts.hours import hours_of
from cadenza.accounts.model import Account
from cadenza.core.budgets import Period, period_key
from cadenza.core.throughput import Sender
from cadenza.core.zones import get_zone
from cadenza.deliveries.model import Action, account_scope
from cadenza.deliveries.pace import read_paces
from cadenza.deliveries.rate_limit_waits import read_account_waits
from cadenza.sql.tx import Row, Tx


def read_senders(
    tx: Tx, now: datetime, accounts: Sequence[tuple[Account, Action]], *, mode: str = "live"
) -> list[Sender]:
    """Return what accounts can do with an action each."""
    limits: dict[tuple[str, str], list[Row]] = {}
    for row in tx.all(
        """
        SELECT budget.*, bucket.taken, bucket.period
        FROM TABLE(:scopes) AS asked (workspace_id text, scope text)
        JOIN budget ON budget.workspace_id = asked.workspace_id AND budget.scope = asked.scope
        LEFT JOIN bucket ON bucket.workspace_id = budget.workspace_id AND bucket.scope = budget.scope
            AND bucket.action = budget.action AND bucket.kind = budget.kind AND bucket.mode = :mode
        """,
        scopes=sorted({(each.workspace_id, account_scope(each.id)) for each, _ in accounts}),
        mode=mode,
    ):
        limits.setdefault((row["workspace_id"], row["scope"]), []).append(row)
    keys = [(each.workspace_id, each.id) for each, _ in accounts]
    paces = read_paces(tx, keys) if mode == "live" else {}
    waits = read_account_waits(tx, now, [each for each, _ in accounts], mode=mode)
    senders: list[Sender] = []
    for account, action in accounts:
        key = (account.workspace_id, account.id)
        rows = [
            row
            for row in limits.get((account.workspace_id, account_scope(account.id)), ())
            if row["action"] in (action.value, "*")
        ]
        rates = [rate for row in rows if (rate := _per_minute(row)) is not None]
        pace = None if (slowed := paces.get(key)) is None else slowed.at(now)
        if pace is not None and action is not Action.POST:
            rates.append(pace / 60)
        caps = _days(now, account, rows)
        senders.append(
            Sender(
                zone=get_zone(account.zone),
                per_minute=min(rates, default=None),
                slowed=pace is not None and min(rates) == pace / 60,
                day_cap=min(caps, default=(None, 0), key=lambda each: each[0] - each[1])[0],
                used_today=min(caps, default=(0, 0), key=lambda each: each[0] - each[1])[1],
                hours=hours_of(account, action),
                rests_until=waits.get(key),
            )
        )
    return senders


def _per_minute(row: Row) -> float | None:
    if row["kind"] == "rate" and row["amount"] > 0:
        return 60 * row["amount"] / (row["per_seconds"] or 60)
    return 60 / row["amount"] if row["kind"] == "gap" and row["amount"] > 0 else None


def _days(now: datetime, account: Account, rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return limits of a day, with what is used of them today."""
    today = period_key(Period.DAY, now, get_zone(account.zone))
    caps: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        if row["kind"] in ("day", "rolling_day"):
            name = (row["action"], row["kind"])
            used = row["taken"] or 0 if row["period"] == today else 0
            caps[name] = (row["amount"], max(used, caps.get(name, (0, 0))[1]))
    return list(caps.values())
