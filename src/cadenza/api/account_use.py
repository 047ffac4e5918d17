"""What an account did lately, from the ledger: by day, by hour of the week, and how much of its limits is used.

Times are the account's own. The database counts, on the wall clock: it is told the zone's offsets of these weeks. So the
work here is that of a few dozen days and hours, however many calls there were. Limit: the last 28 days, and of
those the newest 20,000 calls.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Literal

from pydantic import BaseModel, Field

from cadenza.accounts.model import Account, read_account
from cadenza.api.accounts import Limit, one
from cadenza.api.request_context import Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.core.budgets import DAY, Period
from cadenza.core.offset_spans import OffsetSpan, span_at, to_second
from cadenza.core.zones import Zone, get_zone, local_day
from cadenza.deliveries.daily_cap import daily_cap
from cadenza.deliveries.model import Action, account_scope
from cadenza.deliveries.set_limit import list_limits
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx

routes = Resource("account_use", "/workspaces/{workspace_id}/accounts/{account_id}/use")
BACK = timedelta(days=28)
MOST = 20_000
ACTIONS = ", ".join(f"'{action}'" for action in Action)  # named, so that the index finds the newest
SECOND = {
    "sqlite": "reserved_at / 1000000",  # of microseconds
    "postgresql": "floor(extract(epoch FROM reserved_at))::bigint",
}
COUNTED = {
    "rolling_day": "recent",
    Period.HOUR: "this_hour",
    Period.DAY: "today",
    Period.WEEK: "this_week",
}
DAYS_BEFORE_1970 = date(1970, 1, 1).toordinal()


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
    holds: int | None = Field(
        default=None, description="Today, where a warm-up or the network lowers the limit"
    )
    lowered_by: Literal["warm-up", "network"] | None = None


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
        rows = count_calls(tx, now, workspace_id, account_id, zone)
        used = {row["action"]: row for row in rows if row["kind"] == "used"}
        limits = list_limits(tx, workspace_id, account_scope(account_id))
        own = read_account(tx, workspace_id, account_id)
        assert own is not None
        return AccountUseView(
            zone=zone.name,
            since=local_day(now - BACK, zone),
            days=[
                DayUse(
                    day=date.fromordinal(row["place"] + DAYS_BEFORE_1970),
                    sent=row["sent"],
                    refused=row["refused"],
                )
                for row in rows
                if row["kind"] == "day"
            ],
            hours=[
                HourUse(weekday=row["place"] // 24, hour=row["place"] % 24, sent=row["sent"])
                for row in rows
                if row["kind"] == "hour"
            ],
            uses=[
                LimitUse(limit=Limit(**row), used=_used(row, used), **_lowered(tx, now, own, row))
                for row in limits
            ],
        )

    return await ask.read(look)


def count_calls(tx: Tx, now: datetime, workspace_id: str, account_id: str, zone: Zone) -> list[Row]:
    """Count the newest calls: by day since 1970, by hour of the week, and by action for each kind of limit."""
    today = local_day(now, zone).toordinal() - DAYS_BEFORE_1970
    monday = today - local_day(now, zone).weekday()
    return tx.all(
        f"""
        WITH newest AS MATERIALIZED (
            SELECT action, counts, reserved_at, second, {_wall(now, zone)} AS wall,
                CASE WHEN state IN ('rejected', 'refunded') THEN 0 ELSE 1 END AS fine
            FROM (
                SELECT action, state, counts, reserved_at, {SECOND[tx.dialect]} AS second FROM activity
                WHERE workspace_id = :workspace_id AND account_id = :account_id
                    AND action IN ({ACTIONS}) AND mode = 'live' AND reserved_at >= :since
                ORDER BY reserved_at DESC LIMIT :most
            ) AS kept
        )
        SELECT 'day' AS kind, '' AS action, wall / 86400 AS place, sum(fine) AS sent,
            sum(1 - fine) AS refused, 0 AS this_hour, 0 AS today, 0 AS this_week, 0 AS recent
        FROM newest GROUP BY 3
        UNION ALL
        SELECT 'hour', '', (wall / 86400 + 4) % 7 * 24 + wall % 86400 / 3600, sum(fine), 0, 0, 0, 0, 0
        FROM newest WHERE fine = 1 GROUP BY 3
        UNION ALL
        SELECT 'used', action, 0, 0, 0,
            sum(CASE WHEN second / 3600 = {int(now.timestamp()) // 3600} THEN 1 ELSE 0 END),
            sum(CASE WHEN wall / 86400 = {today} THEN 1 ELSE 0 END),
            sum(CASE WHEN wall / 86400 >= {monday} THEN 1 ELSE 0 END),
            sum(CASE WHEN reserved_at > :yesterday THEN 1 ELSE 0 END)
        FROM newest WHERE counts GROUP BY action
        ORDER BY 1, 3
        """,  # noqa: S608 - constants and numbers of ours
        workspace_id=workspace_id,
        account_id=account_id,
        since=now - BACK,
        yesterday=now - DAY,
        most=MOST,
    )


def _wall(now: datetime, zone: Zone) -> str:
    """Write what a second is on the zone's clock, in the weeks that are counted."""
    spans, at = list[OffsetSpan](), to_second(now - BACK)
    while at <= to_second(now):
        spans.append(span_at(at, zone))
        at = spans[-1].end
    *earlier, last = spans
    if not earlier:
        return f"second + ({last.offset})"
    cases = " ".join(f"WHEN second < {each.end} THEN {each.offset}" for each in earlier)
    return f"second + CASE {cases} ELSE {last.offset} END"


def _lowered(tx: Tx, now: datetime, account: Account, limit: Row) -> dict[str, Any]:
    if limit["kind"] != Period.DAY:
        return {}
    cap = daily_cap(tx, now, account, limit["action"], limit["amount"])
    return {"holds": cap.amount, "lowered_by": cap.lowered_by} if cap.lowered_by else {}


def _used(limit: Row, used: Mapping[str, Row]) -> int | None:
    """Count the ledger as the limit does."""
    kind = COUNTED.get(limit["kind"])
    if kind is None:
        return None
    actions = used if limit["action"] == "*" else (limit["action"],)
    return sum(used[action][kind] for action in actions if action in used)
