"""What a person should know when a post gets its time: a stop, a pause, a full quota, a token that ends, a repeat.

Asked where a post is queued, timed, saved or imported, and by the pre-flight. Nothing here keeps it from going;
the gates decide at its time, and what holds now may be over by then. Limit: of quotas those by hour, day and
week are foreseen, with what is planned; rates and gaps are the pipeline's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from cadenza.accounts.model import Account
from cadenza.core.budgets import Period, period_key
from cadenza.core.zones import get_zone
from cadenza.deliveries.model import ComposedPost
from cadenza.posts.find_duplicates import find_duplicates
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_value

_AROUND = timedelta(days=8)  # no week is longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing about one place; `blocking`: it will not go out like this."""

    account_id: str
    channel: str
    code: str
    message: str
    field: str = ""
    blocking: bool = True

    @classmethod
    def about(
        cls, piece: ComposedPost, code: str, message: str, *, field: str, blocking: bool = True
    ) -> Self:
        """Say something of a piece where it goes."""
        return cls(
            account_id=piece.account_id,
            channel=piece.channel.value,
            code=code,
            message=message,
            field=field,
            blocking=blocking,
        )


def find_warnings(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    pieces: Sequence[ComposedPost],
    at: datetime,
    words: str | None = None,
) -> list[Finding]:
    """Return what is worth a word about these pieces of one post at that time."""
    if not pieces:
        return []
    accounts = _accounts(tx, workspace_id, pieces)
    found = [
        Finding.about(piece, code, message, field=field, blocking=False)
        for piece in pieces
        if (account := accounts.get(piece.account_id)) is not None
        for code, message, field in (
            *_held(account, at),
            *_token(account, at),
            *_quota(tx, account, piece, at),
        )
    ]
    repeats = find_duplicates(tx, workspace_id=workspace_id, pieces=pieces, at=at, words=words)
    return found + [
        Finding(
            account_id=each.account_id,
            channel=each.channel,
            code="duplicate",
            message=each.message,
            field="text",
            blocking=False,
        )
        for each in repeats
    ]


def warn_before(
    tx: Tx, now: datetime, *, workspace_id: str, pieces: Sequence[ComposedPost], at: datetime
) -> tuple[str, ...]:
    """Say the same in lines, each once."""
    found = find_warnings(tx, now, workspace_id=workspace_id, pieces=pieces, at=at)
    return tuple(dict.fromkeys(each.message for each in found))


def token_ends(account: Account, at: datetime) -> str | None:
    """Say that an account's connection ends before that time, and nobody renews it."""
    expires = account.token_expires_at
    if account.state != "expiring" or expires is None or expires > at:
        return None
    return f"{account.handle or account.id}'s connection ends before: connect it again"


def _accounts(tx: Tx, workspace_id: str, pieces: Sequence[ComposedPost]) -> dict[str, Row]:
    rows = tx.all(
        """
        SELECT account.*, lane.paused, lane.pause_reason, lane.paused_until, workspace.stopped_at,
            workspace.stop_reason, (
                SELECT count(*) FROM budget
                WHERE budget.workspace_id = account.workspace_id
                    AND budget.scope = 'account:' || account.id AND budget.action = 'post'
                    AND budget.kind IN ('hour', 'day', 'week')
            ) AS quotas
        FROM TABLE(:ids) AS asked (id text)
        JOIN account ON account.workspace_id = :workspace_id AND account.id = asked.id
        JOIN workspace ON workspace.id = account.workspace_id
        JOIN lane ON lane.workspace_id = account.workspace_id AND lane.id = 'account:' || account.id
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in sorted({piece.account_id for piece in pieces})],
    )
    return {row["id"]: row for row in rows}


def _held(account: Row, at: datetime) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    if account["stopped_at"] is not None:
        reason = account["stop_reason"] or "no reason given"
        found.append(("stopped", f"the workspace is stopped: {reason}", "workspace"))
    until: datetime | None = account["paused_until"]
    if account["paused"] and (until is None or until > at):
        reason = account["pause_reason"] or "no reason given"
        name = account["handle"] or account["id"]
        found.append(("paused", f"{name} is paused: {reason}", "account"))
    return found


def _token(account: Row, at: datetime) -> list[tuple[str, str, str]]:
    message = token_ends(read_value(Account, account), at)
    return [] if message is None else [("token_expires", message, "account")]


def _quota(tx: Tx, account: Row, piece: ComposedPost, at: datetime) -> list[tuple[str, str, str]]:
    """Compare the account's own limits with what is planned for the hour, day and week of that time."""
    if not account["quotas"]:
        return []
    about = {"workspace_id": account["workspace_id"], "account_id": account["id"]}
    limits = tx.all(
        """
        SELECT kind, amount FROM budget
        WHERE workspace_id = :workspace_id AND scope = 'account:' || :account_id
            AND action = 'post' AND kind IN ('hour', 'day', 'week')
        ORDER BY kind
        """,
        **about,
    )
    planned = tx.all(
        """
        SELECT due_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND state IN ('draft', 'scheduled', 'sending', 'sent', 'unconfirmed')
            AND due_at > :first AND due_at < :last
            AND NOT (coalesce(post_id, '') = :post_id AND channel = :channel)
        """,
        first=at - _AROUND,
        last=at + _AROUND,
        post_id=piece.post_id,
        channel=piece.channel.value,
        **about,
    )
    zone = get_zone(account["zone"])
    found: list[tuple[str, str, str]] = []
    for limit in limits:
        period = Period(limit["kind"])
        own = period_key(period, at, zone)
        count = sum(1 for row in planned if period_key(period, row["due_at"], zone) == own)
        if count >= limit["amount"]:
            message = f"the account may send {limit['amount']} posts a {period.value}, and has {count} then"
            found.append(("quota", message, "account"))
    return found
