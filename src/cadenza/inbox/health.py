"""How an account is received: what came back beside what it sent, and when that stops it.

Too many hard bounces or complaints in 30 days suspend the account, with the reason: going on would cost its reputation
with every mailbox provider. Few are never enough, as one of ten says nothing. Only an admin lets it send again, and what
came back before no longer counts then, or the next bounce would stop it at once.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.deliveries.suspend_account import suspend_account
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.sql.tx import Tx

WINDOW = timedelta(days=30)
FEW = 3  # bounces or complaints: fewer never stop an account
RESUME = "An admin can let it send again."


class HealthLimits(Struct, frozen=True, kw_only=True):
    """From what share of the mails sent an account is stopped; 100 percent never stops it."""

    bounce_percent: float = 2.0
    complaint_percent: float = 0.3  # where large mailbox providers begin to refuse
    after: int = 50  # mails sent: a share of fewer says little about bounces


class AccountCounts(Struct, frozen=True):
    """What came back to an account in the last 30 days, beside what it sent."""

    sent: int
    replies: int
    hard_bounces: int
    soft_bounces: int
    refused: int  # by policy or content
    complaints: int
    unsubscribes: int


def limits_of(settings: str) -> HealthLimits:
    """Read an account's limits from its settings; what is not set is usual."""
    said = msgspec.json.decode(settings, type=dict[str, Any]).get("health")
    return msgspec.convert(said or {}, HealthLimits)


def count_account(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> AccountCounts:
    """Count what came back to an account in the last 30 days, or since it was last let send again."""
    about = {"workspace_id": workspace_id, "account_id": account_id}
    lifted: datetime | None = tx.value(
        "SELECT health_since_at FROM account WHERE workspace_id = :workspace_id AND id = :account_id",
        **about,
    )
    since = max(now - WINDOW, lifted) if lifted is not None else now - WINDOW
    rows = tx.all(
        """
        SELECT kind, count(*) AS n FROM inbound_event
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND happened_at > :since
        GROUP BY kind
        """,
        since=since,
        **about,
    )
    counts = {Kind(row["kind"]): int(row["n"]) for row in rows}
    sent = tx.value(
        """
        SELECT count(*) FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND mode = 'live'
            AND state = 'success' AND reserved_at > :since
        """,
        since=since,
        **about,
    )
    return AccountCounts(
        sent=int(sent or 0),
        replies=counts.get(Kind.REPLY, 0),
        hard_bounces=counts.get(Kind.HARD_BOUNCE, 0),
        soft_bounces=counts.get(Kind.SOFT_BOUNCE, 0),
        refused=counts.get(Kind.POLICY_BOUNCE, 0) + counts.get(Kind.CONTENT_BOUNCE, 0),
        complaints=counts.get(Kind.COMPLAINT, 0),
        unsubscribes=counts.get(Kind.UNSUBSCRIBE, 0),
    )


def judge_account(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> str | None:
    """Suspend an account that is received badly; return why, or None."""
    settings: str | None = tx.value(
        "SELECT settings FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )
    if settings is None:
        return None
    counts = count_account(tx, now, workspace_id=workspace_id, account_id=account_id)
    reason = find_reason(counts, limits_of(settings))
    if reason is not None:
        suspend_account(
            tx, now, workspace_id=workspace_id, account_id=account_id, reason=f"{reason}. {RESUME}"
        )
    return reason


def find_reason(counts: AccountCounts, limits: HealthLimits) -> str | None:
    """Say why an account with these counts is stopped; None: it is not."""
    complaints, bounces, sent = counts.complaints, counts.hard_bounces, counts.sent
    if complaints >= FEW and complaints * 100 >= limits.complaint_percent * sent:
        return f"{complaints} of {sent} recipients called its mails spam in the last 30 days"
    enough = sent >= limits.after and bounces >= FEW
    if enough and bounces * 100 >= limits.bounce_percent * sent:
        return f"{bounces} of {sent} mails of the last 30 days went to addresses that do not exist"
    return None
