"""Mailboxes that are read by IMAP: where they are, how far they were read, and whether that works.

The number of the last mail that was read is stored in the transaction that records it, so a crash reads nothing
twice and skips nothing. A mailbox is read by one process at a time, for as long as its lease. A failure is told on
the mailbox and tried again later: after minutes, then hours.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.accounts.open import mailbox_row, refer
from cadenza.accounts.seal import Keyring
from cadenza.db.audit import record
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.inbox.imap import AccessTokens, FetchedMail, ImapServer
from cadenza.inbox.model import Recorded
from cadenza.inbox.read_events import read_mail
from cadenza.inbox.record import record_inbound
from cadenza.providers.http.redact import Secret
from cadenza.providers.smtp.limits import sender_of
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value, read_values

JOB, QUEUE = "read_mailbox", "product"
EVERY = timedelta(minutes=2)
LEASE = timedelta(minutes=15)
WATCH = timedelta(minutes=10)  # a worker waits for a mailbox's mail, then signs in again
XOAUTH2 = "xoauth2"
LONGEST_WAIT = timedelta(hours=2)
MOST_DUE = 200


class FolderPlace(Struct, frozen=True):
    """How far a folder was read."""

    validity: int
    uid: int


class Mailbox(Struct, frozen=True):
    """A row of `mailbox`."""

    workspace_id: str
    account_id: str
    host: str
    port: int
    security: str
    username: str
    sealed: str
    folders: str  # JSON: places by folder
    read_until: datetime | None
    polled_at: datetime | None
    next_poll_at: datetime
    failures: int
    error: str | None
    created_at: datetime
    auth: str  # password, xoauth2
    watched_until: datetime | None

    @property
    def places(self) -> dict[str, FolderPlace]:
        """How far each folder was read."""
        return msgspec.json.decode(self.folders, type=dict[str, FolderPlace])

    def server(self, keyring: Keyring, tokens: AccessTokens) -> ImapServer:
        """Say where it is, with the password opened for the moment; or with the account's tokens."""
        where = {"host": self.host, "port": self.port, "security": self.security}
        if self.auth == XOAUTH2:
            return ImapServer(**where, username=self.username, tokens=tokens)
        password = keyring.open(self.sealed, row=mailbox_row(self.workspace_id, self.account_id))
        return ImapServer(**where, username=self.username, password=Secret(password))


class NewMailbox(Struct, frozen=True, kw_only=True):
    """Where to read, with the password sealed; or by the account's tokens, without one."""

    workspace_id: str
    account_id: str
    host: str
    port: int
    security: str
    username: str
    sealed: str = ""
    auth: str = "password"


_COLUMNS = columns(Mailbox, "mailbox")


def save_mailbox(tx: Tx, now: datetime, new: NewMailbox, *, by: str) -> Mailbox:
    """Read this mailbox from now on; another server or user starts over."""
    row = tx.one(
        f"""
        INSERT INTO mailbox (
            workspace_id, account_id, host, port, security, username, sealed, auth, next_poll_at, created_at
        ) VALUES (:workspace_id, :account_id, :host, :port, :security, :username, :sealed, :auth, :now, :now)
        ON CONFLICT (workspace_id, account_id) DO UPDATE SET
            folders = CASE WHEN mailbox.host = excluded.host AND mailbox.username = excluded.username
                THEN mailbox.folders ELSE excluded.folders END,
            host = excluded.host, port = excluded.port, security = excluded.security,
            username = excluded.username, sealed = excluded.sealed, auth = excluded.auth,
            next_poll_at = excluded.next_poll_at,
            read_until = NULL, watched_until = NULL, failures = 0, error = NULL
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - put together from constants
        now=now,
        **msgspec.structs.asdict(new),
    )
    assert row is not None, "an upsert returns its row"
    record(
        tx,
        now,
        workspace_id=new.workspace_id,
        by=by,
        action="mailbox.set",
        subject_id=new.account_id,
        after={"host": new.host, "username": new.username},
    )
    return read_value(Mailbox, row)


def find_mailbox(tx: Tx, workspace_id: str, account_id: str) -> Mailbox | None:
    """Return the mailbox of an account."""
    row = tx.one(
        f"""
        SELECT {_COLUMNS} FROM mailbox WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        account_id=account_id,
    )
    return None if row is None else read_value(Mailbox, row)


def remove_mailbox(tx: Tx, now: datetime, *, workspace_id: str, account_id: str, by: str) -> bool:
    """Read it no more; say whether it was read."""
    gone = tx.run(
        "DELETE FROM mailbox WHERE workspace_id = :workspace_id AND account_id = :account_id",
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if gone:
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="mailbox.remove",
            subject_id=account_id,
        )
    return gone > 0


def take_watch(tx: Tx, now: datetime, *, limit: int) -> list[Mailbox]:
    """Return mailboxes that can be read and that nobody watches, for one worker to wait for their mail."""
    if limit <= 0:
        return []
    rows = tx.all(
        f"""
        UPDATE mailbox SET watched_until = :until WHERE (workspace_id, account_id) IN (
            SELECT workspace_id, account_id FROM mailbox
            WHERE error IS NULL AND polled_at IS NOT NULL AND (watched_until IS NULL OR watched_until < :now)
            ORDER BY polled_at LIMIT :limit
        ) RETURNING {_COLUMNS}
        """,  # noqa: S608 - put together from constants
        until=now + WATCH,
        now=now,
        limit=limit,
    )
    return read_values(Mailbox, rows)


def end_watch(tx: Tx, now: datetime, there: Mailbox, *, until: datetime | None) -> None:
    """Let another worker wait for a mailbox's mail; `until`: not before then, as waiting is of no use."""
    tx.run(
        """
        UPDATE mailbox SET watched_until = :until
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND watched_until = :mine
        """,
        until=until,
        mine=there.watched_until,
        workspace_id=there.workspace_id,
        account_id=there.account_id,
    )


def wake(tx: Tx, now: datetime, there: Mailbox) -> bool:
    """Read a mailbox now, as something arrived; False: it is being read."""
    about = {"workspace_id": there.workspace_id, "account_id": there.account_id}
    taken = tx.run(
        """
        UPDATE mailbox SET read_until = :until, next_poll_at = :now
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND (read_until IS NULL OR read_until < :now)
        """,
        until=now + LEASE,
        now=now,
        **about,
    )
    if taken:
        enqueue_in(tx, now, JOB, about, queue=QUEUE)
    return taken > 0


def enqueue_due(tx: Tx, now: datetime) -> int:
    """Enqueue a job for each mailbox whose time has come and that nobody reads; return how many."""
    rows = tx.all(
        f"""
        SELECT {_COLUMNS} FROM mailbox
        WHERE next_poll_at <= :now AND (read_until IS NULL OR read_until < :now)
        ORDER BY next_poll_at LIMIT :limit
        """,  # noqa: S608 - put together from constants
        now=now,
        limit=MOST_DUE,
    )
    for each in read_values(Mailbox, rows):
        about = {"workspace_id": each.workspace_id, "account_id": each.account_id}
        tx.run(
            """
            UPDATE mailbox SET read_until = :until
            WHERE workspace_id = :workspace_id AND account_id = :account_id
            """,
            until=now + LEASE,
            **about,
        )
        enqueue_in(tx, now, JOB, about, queue=QUEUE)
    return len(rows)


def record_mails(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    folder: str,
    mails: Sequence[FetchedMail],
    place: FolderPlace,
) -> list[Recorded]:
    """Record mails of a folder and how far it was read; our own mails are left out."""
    there = find_mailbox(tx, workspace_id, account_id)
    account = read_account(tx, workspace_id, account_id)
    if there is None or account is None:
        return []
    own = sender_of(refer(account)).casefold()
    done: list[Recorded] = []
    for mail in mails:
        inbound = read_mail(
            mail.raw, workspace_id=workspace_id, account_id=account_id, at=mail.arrived_at
        )
        if (inbound.address or "").casefold() != own or inbound.kind.is_bounce:
            done.append(record_inbound(tx, now, inbound))
    _set_places(tx, there, {**there.places, folder: place})
    return done


def finish_poll(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, error: str | None = None
) -> None:
    """Say how it went and when to read again."""
    there = find_mailbox(tx, workspace_id, account_id)
    if there is None:
        return
    failures = 0 if error is None else there.failures + 1
    wait = EVERY if error is None else min(EVERY * 2 ** min(failures, 10), LONGEST_WAIT)
    tx.run(
        """
        UPDATE mailbox SET read_until = NULL, polled_at = :now, next_poll_at = :next, failures = :failures,
            error = :error
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        now=now,
        next=now + wait,
        failures=failures,
        error=error,
        workspace_id=workspace_id,
        account_id=account_id,
    )


def _set_places(tx: Tx, there: Mailbox, places: Mapping[str, FolderPlace]) -> None:
    tx.run(
        """
        UPDATE mailbox SET folders = :folders
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        folders=msgspec.json.encode(places).decode(),
        workspace_id=there.workspace_id,
        account_id=there.account_id,
    )
