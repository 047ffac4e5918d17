"""How many of an action an account may do today: its limit, bounded by what the network bears and by a warm-up.

Active days are counted from the ledger: dates of the account's calendar before today on which at least one call
counts. They are found one after the other along the ledger's index, and only as many as the warm-up asks for.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from cadenza.accounts.model import Account
from cadenza.accounts.warm_up import WarmUp, warm_up_of
from cadenza.core.budgets import cap_of
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.providers.ceilings import daily_ceiling
from cadenza.sql.tx import Tx

WARMING = "warm-up"
NETWORK = "network"


@dataclass(frozen=True, slots=True)
class DailyCap:
    """What holds today, and what lowers it."""

    amount: int
    limit: int  # the account's own
    lowered_by: str | None = None
    active_days: int = 0


def daily_cap(tx: Tx, now: datetime, account: Account, action: str, limit: int) -> DailyCap:
    """Return what holds today of a limit a day."""
    ceiling = daily_ceiling(account.provider, action)
    most = cap_of(limit, ceiling=ceiling)
    lowered = NETWORK if most < limit else None
    warm = warm_up_of(account, action)
    if warm is None:
        return DailyCap(most, limit, lowered)
    days = count_active_days(tx, now, account, action, warm, most)
    amount = most if days >= warm.days_to(most) else cap_of(most, ramp=warm.ramp, active_days=days)
    return DailyCap(amount, limit, WARMING if amount < most else lowered, days)


def count_active_days(
    tx: Tx, now: datetime, account: Account, action: str, warm: WarmUp, cap: int
) -> int:
    """Count the days before today on which something was sent, up to the last that changes the cap."""
    zone = get_zone(account.zone)
    today = local_day(now, zone)
    after, count = warm.since, 0
    while count < warm.days_to(cap):
        found: datetime | None = tx.value(
            """
            SELECT min(reserved_at) AS first_at FROM activity
            WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = :action
                AND mode = 'live' AND counts AND reserved_at >= :after
            """,
            workspace_id=account.workspace_id,
            account_id=account.id,
            action=action,
            after=after,
        )
        if found is None or (day := local_day(found.astimezone(UTC), zone)) >= today:
            break
        count += 1
        after = max(day_bounds(day, zone)[1], found)
    return count
