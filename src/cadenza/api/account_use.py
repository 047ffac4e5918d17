"""What an account did lately, from the ledger: by day, by hour of the week, and how much of its limits is used.

Times are the account's own. Limit: the last 28 days, and of those the newest 20,000 calls.
"""

from collections import Counter
from datetime import date, datetime, timedelta

from pydantic import BaseModel

from cadenza.api.accounts import Limit, one
from cadenza.api.request_context import Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.core.budgets import DAY, Period, period_key
from cadenza.core.zones import Zone, get_zone, local, local_day
from cadenza.deliveries.model import account_scope
from cadenza.deliveries.set_limit import list_limits
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx

routes = Resource("account_use", "/workspaces/{workspace_id}/accounts/{account_id}/use")
BACK = timedelta(days=28)
MOST = 20_000
LONGEST = timedelta(days=8)  # longer than any period of a limit
GONE_WRONG = ("rejected", "refunded")


class DayUse(BaseModel):
    """One local date: what went out, what did not."""

    day: date
    sent: int
    refused: int


class HourUse(BaseModel):
    """One hour of the week, over all weeks: Sunday is 0."""

    weekday: int
    hour: int
    sent: int


class LimitUse(BaseModel):
    """A limit, and what is used of its present period; nothing where it only spaces calls."""

    limit: Limit
    used: int | None


class AccountUseView(BaseModel):
    """What an account did lately."""

    zone: str
    since: date
    days: list[DayUse]
    hours: list[HourUse]
    uses: list[LimitUse]


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def show_use(ask: Reader, workspace_id: Id, account_id: Id) -> AccountUseView:
    """Show what an account did in the last four weeks, and what is left of its limits."""

    def look(tx: Tx, now: datetime) -> AccountUseView:
        zone = get_zone(one(ask, tx, account_id).zone)
        rows = _ledger(tx, now, workspace_id, account_id)
        limits = list_limits(tx, workspace_id, account_scope(account_id))
        return AccountUseView(
            zone=zone.name,
            since=local_day(now - BACK, zone),
            days=_days(rows, zone),
            hours=_hours(rows, zone),
            uses=[LimitUse(limit=Limit(**row), used=_used(row, rows, now, zone)) for row in limits],
        )

    return await ask.read(look)


def _ledger(tx: Tx, now: datetime, workspace_id: str, account_id: str) -> list[Row]:
    return tx.all(
        """
        SELECT action, state, counts, reserved_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND mode = 'live'
            AND reserved_at >= :since
        ORDER BY reserved_at DESC LIMIT :most
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        since=now - BACK,
        most=MOST,
    )


def _days(rows: list[Row], zone: Zone) -> list[DayUse]:
    wrong, right = Counter[date](), Counter[date]()
    for row in rows:
        counted = wrong if row["state"] in GONE_WRONG else right
        counted[local_day(row["reserved_at"], zone)] += 1
    return [
        DayUse(day=day, sent=right[day], refused=wrong[day]) for day in sorted({*wrong, *right})
    ]


def _hours(rows: list[Row], zone: Zone) -> list[HourUse]:
    counted = Counter(
        (there.isoweekday() % 7, there.hour)
        for there in (
            local(row["reserved_at"], zone) for row in rows if row["state"] not in GONE_WRONG
        )
    )
    return [HourUse(weekday=day, hour=hour, sent=n) for (day, hour), n in sorted(counted.items())]


def _used(limit: Row, rows: list[Row], now: datetime, zone: Zone) -> int | None:
    """Count the ledger as the limit does."""
    since = now - LONGEST
    mine = [
        row["reserved_at"]
        for row in rows
        if row["counts"] and limit["action"] in ("*", row["action"]) and row["reserved_at"] > since
    ]
    if limit["kind"] == "rolling_day":
        return sum(at > now - DAY for at in mine)
    if limit["kind"] not in set(Period):
        return None
    period = Period(limit["kind"])
    present = period_key(period, now, zone)
    return sum(period_key(period, at, zone) == present for at in mine)
