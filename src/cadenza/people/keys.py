"""API keys: made once, shown once, kept as a hash; bound to a workspace, a role, scopes and accounts.

A key may have a daily budget of publishings, counted here in the transaction that publishes, so that
any number of processes together keep to it. A key ends when revoked, at its end, or with its maker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cadenza.db.audit import record
from cadenza.people.model import Caller, Done, Missing, PersonRefusal, Role, TooOften
from cadenza.sql.tx import Row, Tx

LOOK = timedelta(minutes=1)  # how exactly `last_used_at` is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key as a person asks for it."""

    name: str
    role: Role
    scopes: Sequence[str]
    accounts: Sequence[str] | None = None
    publish_per_day: int | None = None
    ends_at: datetime | None = None


def make_key(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    new: NewKey,
    prefix: str,
    secret_hash: str,
    member_id: str,
    own: Role,
    by: str,
) -> Done | PersonRefusal:
    """Keep a new key."""
    if new.role is Role.OWNER or not own.covers(new.role):
        return PersonRefusal("a key has a role below owner, and not above your own", "above_you")
    if new.ends_at is not None and new.ends_at <= now:
        return PersonRefusal("its end has passed already", "ended")
    unknown = [id_ for id_ in new.accounts or () if not _has_account(tx, workspace_id, id_)]
    if unknown:
        return PersonRefusal(f"there is no account {unknown[0]}", "unknown_account")
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO api_key (workspace_id, id, name, prefix, secret_hash, role, scopes, accounts,
            publish_per_day, member_id, created_at, ends_at)
        VALUES (:workspace_id, :id, :name, :prefix, :hash, :role, :scopes, :accounts, :per_day,
            :member_id, :now, :ends)
        """,
        workspace_id=workspace_id,
        id=id_,
        name=new.name,
        prefix=prefix,
        hash=secret_hash,
        role=new.role.value,
        scopes=" ".join(sorted(set(new.scopes))),
        accounts=None if new.accounts is None else " ".join(sorted(set(new.accounts))),
        per_day=new.publish_per_day,
        member_id=member_id,
        now=now,
        ends=new.ends_at,
    )
    after = {"name": new.name, "role": new.role.value, "scopes": sorted(set(new.scopes))}
    record(
        tx, now, workspace_id=workspace_id, by=by, action="key.make", subject_id=id_, after=after
    )
    return Done(id_)


def touch_key(tx: Tx, now: datetime, *, workspace_id: str, id: str) -> None:
    """Write when a key was last used."""
    tx.run(
        "UPDATE api_key SET last_used_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=id,
    )


def spend_publish(
    tx: Tx, now: datetime, *, workspace_id: str, caller: Caller, count: int = 1
) -> TooOften | None:
    """Take from a key's daily budget of publishings; people and keys without one have no limit here."""
    if caller.key_id is None or caller.publish_per_day is None or not count:
        return None
    day = now.astimezone(UTC).date()
    taken = count <= caller.publish_per_day and tx.run(
        """
        INSERT INTO api_key_day (workspace_id, key_id, day, published)
        VALUES (:workspace_id, :key_id, :day, :count)
        ON CONFLICT (workspace_id, key_id, day) DO UPDATE SET published = api_key_day.published + :count
        WHERE api_key_day.published + :count <= :most
        """,
        workspace_id=workspace_id,
        key_id=caller.key_id,
        day=day.isoformat(),
        count=count,
        most=caller.publish_per_day,
    )
    if taken:
        return None
    tomorrow = day + timedelta(days=1)
    return TooOften(datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=UTC))


def list_keys(tx: Tx, now: datetime, *, workspace_id: str) -> list[Row]:
    """List a workspace's keys, the newest first, without what proves them."""
    return tx.all(
        """
        SELECT id, name, prefix, role, scopes, accounts, publish_per_day, member_id, created_at, ends_at,
            last_used_at, revoked_at
        FROM api_key WHERE workspace_id = :workspace_id ORDER BY created_at DESC, id DESC
        """,
        workspace_id=workspace_id,
    )


def revoke_key(tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str) -> Done | Missing:
    """End a key; ending it again changes nothing."""
    known = tx.one(
        "SELECT revoked_at FROM api_key WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=id,
    )
    if known is None:
        return Missing()
    if known["revoked_at"] is None:
        tx.run(
            "UPDATE api_key SET revoked_at = :now WHERE workspace_id = :workspace_id AND id = :id",
            now=now,
            workspace_id=workspace_id,
            id=id,
        )
        record(tx, now, workspace_id=workspace_id, by=by, action="key.revoke", subject_id=id)
    return Done(id)


def _has_account(tx: Tx, workspace_id: str, account_id: str) -> bool:
    found = tx.value(
        "SELECT 1 AS there FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )
    return found is not None
