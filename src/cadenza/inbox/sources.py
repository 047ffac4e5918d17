"""Inbound sources: programs that tell us what became of messages, each with an address and a sealed secret."""

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.accounts.open import inbound_row
from cadenza.accounts.seal import Keyring
from cadenza.db.audit import record
from cadenza.inbox.account_status import AccountStatus, note_status
from cadenza.inbox.model import Inbound, Recorded
from cadenza.inbox.record import record_inbound
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value, read_values

PATH = "/in"
MOST_SOURCES = 50


class SourceKind(StrEnum):
    """Who tells."""

    SIGNED = "signed"
    UNIPILE = "unipile"
    SES = "ses"
    POSTMARK = "postmark"
    MAILGUN = "mailgun"
    SENDGRID = "sendgrid"


OURS = frozenset({SourceKind.SIGNED, SourceKind.UNIPILE, SourceKind.POSTMARK})  # we draw the secret


class InboundSource(Struct, frozen=True):
    """A row of `inbound_source`."""

    workspace_id: str
    id: str
    kind: SourceKind
    account_id: str | None
    sealed: str
    settings: str  # JSON
    created_at: datetime
    last_event_at: datetime | None

    def secret(self, keyring: Keyring) -> str:
        """Open what its events are checked with."""
        return keyring.open(self.sealed, row=inbound_row(self.workspace_id, self.id))

    @property
    def topic(self) -> str:
        """The SNS topic that it listens to."""
        return str(msgspec.json.decode(self.settings, type=dict[str, Any]).get("topic") or "")


class SourceRefused(Struct, frozen=True):
    """It was not made: a code, and why."""

    code: str
    message: str


_COLUMNS = columns(InboundSource, "inbound_source")


def add_source(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id_: str,
    kind: SourceKind,
    account_id: str | None,
    sealed: str,
    topic: str = "",
    by: str,
) -> InboundSource | SourceRefused:
    """Listen to a program from now on."""
    if account_id is not None and read_account(tx, workspace_id, account_id) is None:
        return SourceRefused("no_account", "There is no account of that id here.")
    if account_id is None and kind is not SourceKind.UNIPILE:
        return SourceRefused("account_needed", "Say whose messages it tells of: account_id.")
    if len(list_sources(tx, workspace_id)) >= MOST_SOURCES:
        return SourceRefused("too_many", f"There are {MOST_SOURCES} already: remove one first.")
    made = InboundSource(
        workspace_id=workspace_id,
        id=id_,
        kind=kind,
        account_id=account_id,
        sealed=sealed,
        settings=msgspec.json.encode({"topic": topic} if topic else {}).decode(),
        created_at=now,
        last_event_at=None,
    )
    tx.run(
        """
        INSERT INTO inbound_source (workspace_id, id, kind, account_id, sealed, settings, created_at)
        VALUES (:workspace_id, :id, :kind, :account_id, :sealed, :settings, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        kind=kind.value,
        account_id=account_id,
        sealed=sealed,
        settings=made.settings,
        now=now,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="inbound_source.add",
        subject_id=id_,
        after={"kind": kind.value, "account": account_id},
    )
    return made


def list_sources(tx: Tx, workspace_id: str) -> list[InboundSource]:
    """List them, newest first."""
    rows = tx.all(
        f"""
        SELECT {_COLUMNS} FROM inbound_source WHERE workspace_id = :workspace_id ORDER BY id DESC
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
    )
    return read_values(InboundSource, rows)


def remove_source(tx: Tx, now: datetime, *, workspace_id: str, id_: str, by: str) -> bool:
    """Listen to it no more; say whether it was there."""
    gone = tx.run(
        "DELETE FROM inbound_source WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=id_,
    )
    if gone:
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="inbound_source.remove",
            subject_id=id_,
        )
    return gone > 0


def find_source(tx: Tx, id_: str) -> InboundSource | None:
    """Return a source by the id in its address, whosever it is: its secret decides what is believed."""
    row = tx.one(f"SELECT {_COLUMNS} FROM inbound_source WHERE id = :id", id=id_)  # noqa: S608 - constants
    return None if row is None else read_value(InboundSource, row)


def record_events(
    tx: Tx, now: datetime, source: InboundSource, events: list[Inbound]
) -> list[Recorded]:
    """Record what a source told; events of accounts that are not here are left out."""
    done: list[Recorded] = []
    for each in events:
        account = _account(tx, source, each.account_id)
        if account is not None:
            told = msgspec.structs.replace(
                each, workspace_id=source.workspace_id, account_id=account
            )
            done.append(record_inbound(tx, now, told))
    tx.run(
        """
        UPDATE inbound_source SET last_event_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        now=now,
        workspace_id=source.workspace_id,
        id=source.id,
    )
    return done


def record_status(tx: Tx, now: datetime, source: InboundSource, said: AccountStatus) -> bool:
    """Note how an account is, by what its network tells; say whether that changed anything."""
    account = _account(tx, source, said.remote_id)
    if account is None:
        return False
    home, by = source.workspace_id, f"inbound:{source.id}"
    return note_status(tx, now, workspace_id=home, account_id=account, status=said.status, by=by)


def _account(tx: Tx, source: InboundSource, named: str) -> str | None:
    if not named:
        return source.account_id
    column = "remote_id" if source.kind is SourceKind.UNIPILE else "id"
    found = tx.value(
        f"""
        SELECT id FROM account WHERE workspace_id = :workspace_id AND {column} = :named
            AND (:provider = '' OR provider = :provider)
        """,  # noqa: S608 - put together from constants
        workspace_id=source.workspace_id,
        named=named,
        provider="unipile" if source.kind is SourceKind.UNIPILE else "",
    )
    return found if source.account_id in (None, found) or source.kind is SourceKind.SIGNED else None
