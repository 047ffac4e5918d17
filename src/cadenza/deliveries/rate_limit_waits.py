"""Waits that a network asked for: kept by what is to be left alone, heeded by the claim and by the permit.

A wait belongs to an account, to one of its actions or recipients, or to a provider's app and so to all its accounts. An
account's own lane rests as a whole; in a lane that several accounts share, and for a recipient, the one delivery
is put off, and remembers when it was due. A claim asks only about the heads that it found, so waits cost what
they hold. The longer wait stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cadenza.accounts.model import Account
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Action, Delivery, NetworkWait, account_scope
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, Move, move_held
from cadenza.providers.outcome import WaitScope
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

ALL = ""  # the workspace of what is everybody's
OF_RECIPIENT = "recipient:"
OF_ACTION = "action:"
ALONE = (OF_RECIPIENT, OF_ACTION, "test:")


def scope_of(reach: WaitScope, account: Account, delivery: Delivery) -> Key:
    """Name what a wait is about; what a test is asked to wait for holds tests alone."""
    test = "test:" if delivery.mode == "test" else ""
    match reach:
        case WaitScope.APP:
            return ALL, f"{test}app:{account.provider}"
        case WaitScope.RECIPIENT:
            # Without a recipient it is the account's own place.
            recipient = delivery.recipient
            place = fold_recipient(recipient) if recipient else account_scope(account.id)
            return account.workspace_id, f"{test}{OF_RECIPIENT}{account.id}:{place}"
        case WaitScope.ACTION:
            return account.workspace_id, f"{test}{OF_ACTION}{account.id}:{delivery.action.value}"
        case WaitScope.ACCOUNT:
            return account.workspace_id, f"{test}{account_scope(account.id)}"


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
        key: [scope_of(reach, accounts[each.account_key], each) for reach in WaitScope]
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


def read_account_waits(
    tx: Tx, now: datetime, accounts: Sequence[Account], *, mode: str = "live"
) -> dict[Key, datetime]:
    """Return until when accounts wait as a whole, or with any of their actions; those that do not are left out."""
    test = "test:" if mode == "test" else ""
    whole = {
        (each.workspace_id, each.id): [
            (ALL, f"{test}app:{each.provider}"),
            (each.workspace_id, f"{test}{account_scope(each.id)}"),
            *(
                (each.workspace_id, f"{test}{OF_ACTION}{each.id}:{action.value}")
                for action in Action
            ),
        ]
        for each in accounts
    }
    rows = tx.all(
        """
        SELECT network_wait.workspace_id, network_wait.scope, until_at
        FROM TABLE(:requested) AS asked (workspace_id text, scope text)
        JOIN network_wait ON network_wait.workspace_id = asked.workspace_id AND network_wait.scope = asked.scope
        WHERE until_at > :now
        """,
        requested=sorted({scope for scopes in whole.values() for scope in scopes}),
        now=now,
    )
    until: dict[Key, datetime] = {
        (row["workspace_id"], row["scope"]): row["until_at"] for row in rows
    }
    found = {
        key: max((until[scope] for scope in scopes if scope in until), default=now)
        for key, scopes in whole.items()
    }
    return {key: at for key, at in found.items() if at > now}


def rests_alone(wait: NetworkWait, delivery: Delivery) -> bool:
    """Say whether only this delivery has to wait, and the others of its lane may go on."""
    return delivery.shares_lane or wait.scope[1].startswith(ALONE)


def return_rate_limited(
    tx: Tx, now: datetime, claimed: Sequence[Delivery], accounts: Mapping[Key, Account]
) -> list[Delivery]:
    """Put back what was just claimed and may not go yet; return the rest."""
    by_key = {each.key: each for each in claimed}
    waits = read_waits(tx, now, by_key, accounts)
    if not waits:
        return list(claimed)
    move_held(
        tx,
        now,
        [
            Move(
                each,
                State.SCHEDULED,
                Changes(
                    reason=Reason.of(Code.NETWORK_WAIT, message=wait.reason),
                    put_off_until=wait.until if rests_alone(wait, each) else None,
                    deferred=1,
                ),
            )
            for key, wait in waits.items()
            for each in [by_key[key]]
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
