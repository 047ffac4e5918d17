"""Takes in an account that a network has just let us use, or takes it back after it was lost.

Credentials are sealed before they are written. One remote identity is one account of a workspace: what
is connected again is the same account, with its history and limits. A reconnect must bring the same
remote id. The account's lane is not opened here: the caller does both in one transaction.
"""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from cadenza.accounts.open import row_name
from cadenza.accounts.seal import Keyring, seal_tokens
from cadenza.providers.connect import Connected
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class NewAccount:
    """It was not known before: open its lane."""

    id: str


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The same identity sends again; `was` is the state before. What is held wants a resume choice."""

    id: str
    was: str


@dataclass(frozen=True, slots=True)
class OtherIdentity:
    """Somebody signed in as another identity: nothing was changed."""

    expected: str
    message: str


@dataclass(frozen=True, slots=True)
class NoSuchAccount:
    """The workspace has no account of that id."""


def connect(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    new_id: str,
    provider: str,
    connected: Connected,
    ring: Keyring,
    zone: str | None = None,
) -> NewAccount | Reconnected:
    """Add the account, or renew the one of the same remote id; the zone is the workspace's by default."""
    home = tx.value("SELECT zone FROM workspace WHERE id = :id", id=workspace_id)
    if home is None:
        raise LookupError(f"there is no workspace {workspace_id!r} to connect an account in")
    added = tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, token_expires_at,
            token_issued_at, settings, created_at)
        VALUES (:workspace_id, :id, :provider, :remote_id, :handle, :zone, :sealed, :expires_at, :now,
            :settings, :now)
        ON CONFLICT (workspace_id, provider, remote_id) DO NOTHING
        """,
        workspace_id=workspace_id,
        id=new_id,
        provider=provider,
        remote_id=connected.remote_id,
        handle=connected.handle,
        zone=zone or home,
        sealed=seal_tokens(ring, connected.tokens, row=row_name(workspace_id, new_id)),
        expires_at=connected.tokens.expires_at,
        settings=_settings({}, connected),
        now=now,
    )
    if added:
        return NewAccount(new_id)
    known = tx.one(
        """
        SELECT * FROM account
        WHERE workspace_id = :workspace_id AND provider = :provider AND remote_id = :remote_id
        """,
        workspace_id=workspace_id,
        provider=provider,
        remote_id=connected.remote_id,
    )
    assert known is not None, "only the same identity was in the way"
    return _renew(tx, now, known, connected, ring)


def reconnect(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    connected: Connected,
    ring: Keyring,
) -> Reconnected | OtherIdentity | NoSuchAccount:
    """Renew the credentials of one account; another identity is refused."""
    known = tx.one(
        "SELECT * FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )
    if known is None:
        return NoSuchAccount()
    if known["remote_id"] != connected.remote_id:
        return OtherIdentity(
            known["remote_id"],
            f"this is the account {known['handle'] or known['remote_id']}, and "
            f"{connected.handle or connected.remote_id} signed in: sign in as the former, "
            "or connect the latter as a new account",
        )
    return _renew(tx, now, known, connected, ring)


def _renew(tx: Tx, now: datetime, known: Row, connected: Connected, ring: Keyring) -> Reconnected:
    """Write new credentials; a refresh that is under way has lost its turn. A suspension stays."""
    tx.run(
        """
        UPDATE account SET
            state = CASE WHEN state = 'suspended' THEN state ELSE 'connected' END,
            state_reason = CASE WHEN state = 'suspended' THEN state_reason ELSE NULL END,
            handle = :handle, sealed = :sealed, settings = :settings, token_expires_at = :expires_at,
            token_issued_at = :now, token_refreshed_at = NULL, refresh_until = NULL,
            refresh_lease = refresh_lease + 1, refresh_after_at = NULL, lost_at = NULL, reminders = 0
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        handle=connected.handle,
        sealed=seal_tokens(
            ring, connected.tokens, row=row_name(known["workspace_id"], known["id"])
        ),
        settings=_settings(msgspec.json.decode(known["settings"]), connected),
        expires_at=connected.tokens.expires_at,
        now=now,
        workspace_id=known["workspace_id"],
        id=known["id"],
    )
    return Reconnected(known["id"], known["state"])


def _settings(before: dict[str, object], connected: Connected) -> str:
    """What people set here stays; what the network says of the account is new."""
    said = {"name": connected.name, "kind": connected.kind}
    return msgspec.json.encode({**before, **connected.settings, **said}).decode()
