"""Waits that a network asked for: kept by what is to be left alone, heeded by the claim and by the permit.

A wait belongs to an account, to one recipient in a network, or to a provider's app and so to all its accounts. An
account's own lane rests as a whole; in a lane that several accounts share, and for a recipient, the one delivery
is put off, and remembers when it was due. A claim asks only about the heads that it found, so waits cost what
they hold. The longer wait stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cadenza.accounts.model import Account
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Delivery, NetworkWait, account_scope
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.providers.outcome import WaitScope
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

ALL = ""  # the workspace of what is everybody's
OF_RECIPIENT = "recipient:"


def scope_of(reach: WaitScope, account: Account, recipient: str | None) -> Key:
    """Name what a wait is about."""
    match reach:
        case WaitScope.APP:
            return ALL, f"app:{account.provider}"
        case WaitScope.RECIPIENT:
            # Without a recipient it is the account's own place.
            place = fold_recipient(recipient) if recipient else account_scope(account.id)
            return account.workspace_id, f"{OF_RECIPIENT}{account.provider}:{place}"
        case WaitScope.ACCOUNT:
            return account.workspace_id, account_scope(account.id)


def save_waits(tx: Tx, now: datetime, waits: Iterable[NetworkWait]) -> None:
    """Write waits; a longer one stays as it is."""
    longest = {wait.scope: wait for wait in sorted(waits, key=lambda wait: wait.until)}
    if not longest:
        return
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""
    tx.run(
        f"""
        DELETE FROM network_wait WHERE (workspace_id, scope) IN (
            SELECT workspace_id, scope FROM network_wait WHERE until_at <= :now {skip_locked}
        )
        """,  # noqa: S608 - put together from constants
        now=now,
    )
    tx.run(
        """
        INSERT INTO network_wait (workspace_id, scope, until_at, reason, asked_by)
        SELECT workspace_id, scope, until_at, reason, asked_by FROM TABLE(:waits) AS asked (
            workspace_id text, scope text, until_at timestamptz, reason text, asked_by text
        ) WHERE true
        ON CONFLICT (workspace_id, scope) DO UPDATE SET until_at = excluded.until_at,
            reason = excluded.reason, asked_by = excluded.asked_by
        WHERE network_wait.until_at < excluded.until_at
        """,
        waits=[
            (*scope, wait.until, wait.reason, wait.by) for scope, wait in sorted(longest.items())
        ],
    )


def read_waits(
    tx: Tx, now: datetime, deliveries: Mapping[Key, Delivery], accounts: Mapping[Key, Account]
) -> dict[Key, NetworkWait]:
    """Return for each delivery the longest wait that holds it, if one does."""
    scopes = {
        key: [
            scope_of(reach, accounts[each.account_key], each.recipient)
            for reach in (WaitScope.APP, WaitScope.ACCOUNT, WaitScope.RECIPIENT)
        ]
        for key, each in deliveries.items()
    }
    waits = {
        (scope := (row["workspace_id"], row["scope"])): NetworkWait(
            scope=scope, until=row["until_at"], reason=row["reason"], by=row["asked_by"]
        )
        for row in tx.all(
            """
            SELECT network_wait.* FROM TABLE(:requested) AS asked (workspace_id text, scope text)
            JOIN network_wait ON network_wait.workspace_id = asked.workspace_id
                AND network_wait.scope = asked.scope
            WHERE until_at > :now
            """,
            requested=sorted({scope for requested in scopes.values() for scope in requested}),
            now=now,
        )
    }
    found: dict[Key, NetworkWait] = {}
    for key, requested in scopes.items() if waits else ():
        held = [waits[scope] for scope in requested if scope in waits]
        if held:
            found[key] = max(held, key=lambda wait: wait.until)
    return found


def rests_alone(wait: NetworkWait, delivery: Delivery) -> bool:
    """Say whether only this delivery has to wait, and the others of its lane may go on."""
    return delivery.shares_lane or wait.scope[1].startswith(OF_RECIPIENT)


def return_rate_limited(
    tx: Tx, now: datetime, claimed: Sequence[Delivery], accounts: Mapping[Key, Account]
) -> list[Delivery]:
    """Put back what was just claimed and may not go yet; return the rest."""
    by_key = {each.key: each for each in claimed}
    waits = read_waits(tx, now, by_key, accounts)
    if not waits:
        return list(claimed)
    tx.run(
        """
        UPDATE delivery SET leased_until = NULL, worker = NULL, reason = away.why,
            deferrals = deferrals + 1,
            was_due_at = CASE WHEN away.until_at IS NULL THEN was_due_at ELSE due_at END,
            due_at = coalesce(away.until_at, due_at)
        FROM TABLE(:away) AS away (workspace_id text, id text, why text, until_at timestamptz)
        WHERE delivery.workspace_id = away.workspace_id AND delivery.id = away.id
        """,
        away=[
            (*key, wait.reason, wait.until if rests_alone(wait, by_key[key]) else None)
            for key, wait in sorted(waits.items())
        ],
    )
    lanes.refresh(tx, [by_key[key].lane_key for key in waits])
    lanes.park_all(
        tx,
        now,
        [
            lanes.Park(*by_key[key].lane_key, wait.until, wait.reason, wait.by)
            for key, wait in waits.items()
            if not rests_alone(wait, by_key[key])
        ],
    )
    return [each for each in claimed if each.key not in waits]
