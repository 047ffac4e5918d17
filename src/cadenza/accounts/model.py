"""What an account is to whoever sends with it: a row of `account`, typed."""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec import Struct

from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, columns, select

BROADCASTERS = frozenset({"telegram", "slack", "discord", "webhook"})
SENDING = ("connected", "expiring")  # states in which an account can send


class Account(Struct, frozen=True):
    """Who sends; its credentials are sealed."""

    workspace_id: str
    id: str
    provider: str
    remote_id: str
    handle: str
    zone: str
    state: str
    state_reason: str | None
    sealed: str | None
    token_expires_at: datetime | None
    token_issued_at: datetime | None
    token_refreshed_at: datetime | None
    refresh_until: datetime | None
    refresh_lease: int
    refresh_after_at: datetime | None
    lost_at: datetime | None
    grace_minutes: int
    unconfirmed_policy: str
    settings: str  # JSON
    created_at: datetime

    @property
    def can_send(self) -> bool:
        """Say whether it is connected."""
        return self.state in SENDING

    @property
    def is_bulk(self) -> bool:
        """Say whether it is made to write to many: by its network, or because a person says so."""
        return self.provider in BROADCASTERS or msgspec.json.decode(self.settings).get(
            "bulk", False
        )


COLUMNS = columns(Account, "account")


def labels_in(settings: str) -> tuple[str, ...]:
    """Return the labels that people gave an account, as its settings hold them."""
    return tuple(msgspec.json.decode(settings).get("labels", ()))


def read_accounts(tx: Tx, keys: Iterable[Key], *, hold: str | None = None) -> dict[Key, Account]:
    """Read accounts by workspace and id; what does not exist is left out."""
    return select(tx, Account, "account", keys, hold=hold)


def read_account(tx: Tx, workspace_id: str, account_id: str) -> Account | None:
    """Read one account."""
    return read_accounts(tx, [(workspace_id, account_id)]).get((workspace_id, account_id))
