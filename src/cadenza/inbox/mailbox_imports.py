"""Imports of mailboxes: what was asked for, and what became of each row.

Secrets are sealed with the row and wiped in the transaction that ends it; no answer shows them. A row that was cut short
is tried again, which does no harm: signing in changes nothing, and one address is one account.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from cadenza.accounts.connect import NewAccount, connect
from cadenza.accounts.open import import_row, mailbox_row
from cadenza.accounts.seal import Keyring
from cadenza.db.audit import record
from cadenza.deliveries import resume_plan
from cadenza.deliveries.init_account import init_account
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.inbox.imap import ImapServer
from cadenza.inbox.mailboxes import NewMailbox, save_mailbox
from cadenza.inbox.read_mailbox_file import MailboxRow
from cadenza.providers.connect import Connected
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value, read_values

JOB, QUEUE = "import_mailboxes", "product"
KEPT = timedelta(days=30)


class MailboxImport(Struct, frozen=True):
    """A row of `mailbox_import`."""

    workspace_id: str
    id: str
    check_only: bool
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None


class ImportedRow(Struct, frozen=True):
    """A row of `mailbox_import_row`."""

    workspace_id: str
    import_id: str
    number: int
    address: str
    fields: str  # JSON
    sealed: str | None
    state: str
    message: str
    account_id: str | None


_IMPORT = columns(MailboxImport, "mailbox_import")
_ROW = columns(ImportedRow, "mailbox_import_row")


def add_import(
    tx: Tx,
    now: datetime,
    rows: Sequence[MailboxRow],
    *,
    workspace_id: str,
    id_: str,
    check_only: bool,
    ring: Keyring,
    by: str,
) -> MailboxImport:
    """Store the rows, and let those be tried that can be."""
    tx.run(
        """
        INSERT INTO mailbox_import (workspace_id, id, check_only, asked_by, asked_at)
        VALUES (:workspace_id, :id, :check_only, :by, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        check_only=check_only,
        by=by,
        now=now,
    )
    for row in rows:
        name = import_row(workspace_id, id_, row.number)
        sealed = None if row.wrong else ring.seal(_json(row.secrets), row=name)
        tx.run(
            """
            INSERT INTO mailbox_import_row (workspace_id, import_id, number, address, fields, sealed, state, message)
            VALUES (:workspace_id, :import_id, :number, :address, :fields, :sealed, :state, :message)
            """,
            workspace_id=workspace_id,
            import_id=id_,
            number=row.number,
            address=row.address,
            fields=_json(row.fields),
            sealed=sealed,
            state="refused" if row.wrong else "waiting",
            message=row.wrong,
        )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="mailbox.import",
        subject_id=id_,
        after={"rows": len(rows), "check_only": check_only},
    )
    enqueue_in(tx, now, JOB, {"workspace_id": workspace_id, "import_id": id_}, queue=QUEUE)
    made = find_import(tx, workspace_id, id_)
    assert made is not None, "it was just stored"
    return made


def find_import(tx: Tx, workspace_id: str, id_: str) -> MailboxImport | None:
    """Return an import."""
    row = tx.one(
        f"SELECT {_IMPORT} FROM mailbox_import WHERE workspace_id = :workspace_id AND id = :id",  # noqa: S608 - constants
        workspace_id=workspace_id,
        id=id_,
    )
    return None if row is None else read_value(MailboxImport, row)


def list_rows(tx: Tx, workspace_id: str, id_: str) -> list[ImportedRow]:
    """List the rows of an import, as they stand in the file."""
    rows = tx.all(
        f"""
        SELECT {_ROW} FROM mailbox_import_row
        WHERE workspace_id = :workspace_id AND import_id = :id ORDER BY number
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        id=id_,
    )
    return read_values(ImportedRow, rows)


def connect_row(
    tx: Tx, now: datetime, row: ImportedRow, connected: Connected, imap: ImapServer | None, *,
    ring: Keyring, by: str,
) -> None:  # fmt: skip
    """Connect the mailbox that was signed in to, and read it from now on where its server is known."""
    if not _is_waiting(tx, row):
        return
    home = row.workspace_id
    made = connect(
        tx,
        now,
        workspace_id=home,
        new_id=tx.new_id(),
        provider="smtp",
        connected=connected,
        ring=ring,
    )
    if isinstance(made, NewAccount):
        init_account(tx, now, workspace_id=home, account_id=made.id)
    elif made.was not in resume_plan.CAN_SEND:
        resume_plan.reopen(tx, now, workspace_id=home, account_id=made.id)
    if imap is not None and imap.password is not None:
        new = NewMailbox(
            workspace_id=home,
            account_id=made.id,
            host=imap.host,
            port=imap.port,
            security=imap.security,
            username=imap.username,
            sealed=ring.seal(imap.password.reveal(), row=mailbox_row(home, made.id)),
        )
        save_mailbox(tx, now, new, by=by)
    again = "" if isinstance(made, NewAccount) else "It was known already and is renewed."
    finish_row(tx, now, row, state="connected", message=again, account_id=made.id)


def finish_row(
    tx: Tx,
    now: datetime,
    row: ImportedRow,
    *,
    state: str,
    message: str = "",
    account_id: str | None = None,
) -> None:
    """Say what became of a row, and wipe its secrets; the last one ends the import."""
    about = {"workspace_id": row.workspace_id, "import_id": row.import_id}
    tx.run(
        """
        UPDATE mailbox_import_row SET state = :state, message = :message, account_id = :account_id, sealed = NULL
        WHERE workspace_id = :workspace_id AND import_id = :import_id AND number = :number AND state = 'waiting'
        """,
        state=state,
        message=message[:500],
        account_id=account_id,
        number=row.number,
        **about,
    )
    finish_import(tx, now, **about)


def finish_import(tx: Tx, now: datetime, *, workspace_id: str, import_id: str) -> None:
    """End an import that has nothing left to try."""
    tx.run(
        """
        UPDATE mailbox_import SET finished_at = :now
        WHERE workspace_id = :workspace_id AND id = :import_id AND finished_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM mailbox_import_row r WHERE r.workspace_id = mailbox_import.workspace_id
                AND r.import_id = mailbox_import.id AND r.state = 'waiting')
        """,
        now=now,
        workspace_id=workspace_id,
        import_id=import_id,
    )


def forget_imports(tx: Tx, now: datetime) -> None:
    """Delete imports that are a month old, with what is left of them."""
    tx.run(
        """
        DELETE FROM mailbox_import_row WHERE EXISTS (
            SELECT 1 FROM mailbox_import i WHERE i.workspace_id = mailbox_import_row.workspace_id
                AND i.id = mailbox_import_row.import_id AND i.asked_at < :before)
        """,
        before=now - KEPT,
    )
    tx.run("DELETE FROM mailbox_import WHERE asked_at < :before", before=now - KEPT)


def _is_waiting(tx: Tx, row: ImportedRow) -> bool:
    state = tx.value(
        """
        SELECT state FROM mailbox_import_row
        WHERE workspace_id = :workspace_id AND import_id = :import_id AND number = :number
        """,
        workspace_id=row.workspace_id,
        import_id=row.import_id,
        number=row.number,
    )
    return state == "waiting"


def _json(said: object) -> str:
    return msgspec.json.encode(said).decode()
