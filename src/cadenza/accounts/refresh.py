"""Refreshes an account's tokens: one at a time over all machines, kept before used, never replayed.

A refresh begins by taking the account's lease in the database; whoever comes meanwhile waits for the new
pair. The exchange stands between two transactions. If a process dies between the exchange and the
keeping, its lease runs out: a refresh token that may be used up is not tried again, the account asks
for a reconnect instead. What the network does not answer, or answers with 5xx, disconnects nobody; nor does
a token that nothing renews: it is used until it ends.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.accounts.model import COLUMNS, Account, read_account
from cadenza.accounts.open import open_account_tokens, row_name
from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.accounts.seal import Keyring, seal_tokens
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.notices.model import EventKind
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Disconnected,
    Outcome,
    TryLater,
    Unconfirmed,
)
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

WEEK = timedelta(days=7)
SHARE = 0.2  # of a token's life
RECENT = timedelta(minutes=10)
LEASE = timedelta(seconds=60)
EXCHANGE = 30.0  # seconds; the lease is longer, so a slow exchange is never taken for a dead one
AGAIN = timedelta(minutes=1)  # after a refresh that failed for a while
CUT_SHORT = (
    "a refresh was cut short, and its token may have been used up: it is not tried again blindly"
)


@dataclass(frozen=True, slots=True)
class Ready:
    """Use these credentials: they are the newest there are."""

    account: Account


@dataclass(frozen=True, slots=True)
class Begun:
    """The lease is yours: exchange now, then keep or give up."""

    account: Account
    lease: int
    tokens: Tokens
    at: datetime  # by the database's clock
    refused: bool = False  # the network takes the tokens no more


@dataclass(frozen=True, slots=True)
class Busy:
    """Another process refreshes; look again, at the latest then."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Lost:
    """The account cannot send until a person connects it again."""

    message: str


@dataclass(frozen=True, slots=True)
class Later:
    """No fresh tokens now; the account stays connected."""

    message: str
    wait: timedelta


def is_due(account: Account, now: datetime) -> bool:
    """Say whether the token's remaining time is short enough, and no refresh has just been."""
    expires, issued = account.token_expires_at, account.token_issued_at
    if expires is None or _recently(account, now):
        return False
    life = expires - (issued or account.created_at)
    return expires - now < min(WEEK, life * SHARE)


def begin(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    ring: Keyring,
    refused: datetime | None = None,
) -> Ready | Begun | Busy | Lost | Later:
    """Take the lease if a refresh is due, or if the network `refused` the tokens issued at that instant."""
    row = read_account(tx, workspace_id, account_id)
    tokens = None if row is None else open_account_tokens(ring, row)
    if row is None or tokens is None:
        return Lost("the account has no credentials: connect it again")
    if not row.can_send:
        return Lost(row.state_reason or f"the account is {row.state}")
    if refused is not None and row.token_issued_at != refused:
        return Ready(row)  # they were renewed meanwhile
    if row.refresh_until is not None:
        if row.refresh_until > now:
            return Busy(row.refresh_until)
        if tokens.refresh is not None:
            _lose(tx, now, row, CUT_SHORT)
            return Lost(CUT_SHORT)
    if refused is None and not is_due(row, now):
        return Ready(row)
    if _recently(row, now):
        return Lost("the network refuses tokens that were renewed just now")
    after: datetime | None = row.refresh_after_at
    # What waits until the token's end waits for nothing that passes: once it is refused, it has ended.
    if after is not None and after > now and (refused is None or after != row.token_expires_at):
        message = row.state_reason or "the last refresh failed for a while"
        return Later(message, after - now)
    return _take(tx, now, row, tokens, refused=refused is not None)


def keep(tx: Tx, now: datetime, begun: Begun, fresh: Tokens, *, ring: Keyring) -> Ready | Lost:
    """Persist the new pair; only the lease's holder may, and an empty refresh token replaces none."""
    whole = fresh if fresh.refresh else replace(fresh, refresh=begun.tokens.refresh)
    row = begun.account
    kept = tx.run(
        """
        UPDATE account SET sealed = :sealed, token_expires_at = :expires_at, token_issued_at = :now,
            token_refreshed_at = :now, refresh_until = NULL, refresh_after_at = NULL, state = 'connected',
            state_reason = NULL
        WHERE workspace_id = :workspace_id AND id = :id AND refresh_lease = :lease
            AND state IN ('connected', 'expiring')
        """,
        sealed=seal_tokens(ring, whole, row=row_name(row.workspace_id, row.id)),
        expires_at=whole.expires_at,
        now=now,
        workspace_id=row.workspace_id,
        id=row.id,
        lease=begun.lease,
    )
    now_there = read_account(tx, row.workspace_id, row.id)
    if now_there is None or (not kept and not now_there.can_send):
        return Lost((now_there and now_there.state_reason) or "the account was disconnected")
    return Ready(now_there)


def give_up(tx: Tx, now: datetime, begun: Begun, outcome: Outcome) -> Lost | Later:
    """Write that no tokens came: lost for good, or only for now."""
    row = begun.account
    message = getattr(outcome, "message", None) or "the refresh brought nothing"
    unsure = isinstance(outcome, Unconfirmed) and begun.tokens.refresh is not None
    wait = outcome.wait if isinstance(outcome, TryLater) else AGAIN
    if (left := _lasts(now, begun, outcome)) is not None:
        wait = left
        _warn(tx, now, row, message)
    elif isinstance(outcome, Disconnected) or unsure:
        if _still_holds(tx, begun):
            _lose(tx, now, row, CUT_SHORT if unsure else message)
        return Lost(message)
    tx.run(
        """
        UPDATE account SET refresh_until = NULL, refresh_after_at = :again, state = 'expiring',
            state_reason = :message
        WHERE workspace_id = :workspace_id AND id = :id AND refresh_lease = :lease
            AND state IN ('connected', 'expiring')
        """,
        again=now + wait,
        message=message,
        workspace_id=row.workspace_id,
        id=row.id,
        lease=begun.lease,
    )
    return Later(message, wait)


def _warn(tx: Tx, now: datetime, row: Account, message: str) -> None:
    """Tell once of tokens that end though nothing is wrong: a person can connect the account before they do."""
    ends = row.token_expires_at
    assert ends is not None, "they end, so it is known when"
    word = OutboxEvent(
        workspace_id=row.workspace_id,
        id=f"account:{row.id}:{ends.isoformat()}:expiring",
        kind=EventKind.EXPIRING,
        subject_id=row.id,
        body={
            "provider": row.provider,
            "handle": row.handle,
            "reason": message,
            "ends_at": ends.isoformat(),
            "zone": row.zone,
        },
    )
    write_outbox(tx, now, [word])


def _lasts(now: datetime, begun: Begun, outcome: Outcome) -> timedelta | None:
    """Say for how long tokens that nothing renews can still be used."""
    ends: datetime | None = begun.account.token_expires_at
    nothing = isinstance(outcome, Disconnected) and outcome.code == NOTHING_TO_RENEW
    if begun.refused or not nothing or ends is None or ends <= now:
        return None
    return ends - now


def due_accounts(tx: Tx, now: datetime, *, limit: int = 50) -> list[Account]:
    """List accounts to look at: tokens that run out, and refreshes that were cut short."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM account
        WHERE state IN ('connected', 'expiring') AND sealed IS NOT NULL AND (
            (token_expires_at < :horizon AND (refresh_after_at IS NULL OR refresh_after_at <= :now))
            OR refresh_until <= :now)
        ORDER BY token_expires_at
        """,  # noqa: S608 - put together from constants
        horizon=now + WEEK,
        now=now,
    )
    accounts = read_values(Account, rows)
    due = [row for row in accounts if is_due(row, now) or row.refresh_until is not None]
    return due[:limit]


def _recently(account: Account, now: datetime) -> bool:
    last: datetime | None = account.token_refreshed_at
    return last is not None and now - last < RECENT


def _take(tx: Tx, now: datetime, row: Account, tokens: Tokens, *, refused: bool) -> Begun | Busy:
    """Raise the lease; conditional, so that two who read the same row cannot both have it."""
    lease = row.refresh_lease + 1
    taken = tx.run(
        """
        UPDATE account SET refresh_until = :until, refresh_lease = :lease
        WHERE workspace_id = :workspace_id AND id = :id AND refresh_lease = :lease - 1
        """,
        until=now + LEASE,
        lease=lease,
        workspace_id=row.workspace_id,
        id=row.id,
    )
    return Begun(row, lease, tokens, now, refused) if taken else Busy(now + LEASE)


def _still_holds(tx: Tx, begun: Begun) -> bool:
    row = read_account(tx, begun.account.workspace_id, begun.account.id)
    return row is not None and row.refresh_lease == begun.lease


def _lose(tx: Tx, now: datetime, row: Account, message: str) -> None:
    require_reconnect(tx, now, workspace_id=row.workspace_id, account_id=row.id, message=message)
