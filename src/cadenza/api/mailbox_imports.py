"""Imports of mailboxes: a CSV of SMTP and IMAP settings, each row signed in to in the background, and what became of it.

A dry run reads the file and judges each row without calling anybody. `check_only` signs in and connects nothing. Passwords
are sealed until their row was tried, then wiped; no answer shows them.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.problems import Problem, not_found
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel
from cadenza.inbox import mailbox_imports
from cadenza.inbox.read_mailbox_file import UnreadableFile, read_mailbox_file
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("mailbox_imports", "/workspaces/{workspace_id}/mailbox-imports")


class MailboxImportInput(InputModel):
    """Mailboxes to connect."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "csv": "from_address,smtp_host,smtp_password,imap_host\n"
                    "ada@example.org,smtp.invalid,secret,imap.invalid\n"
                }
            ]
        }
    )
    csv: Annotated[str, StringConstraints(min_length=1, max_length=900_000)] = Field(
        description="With a header: from_address, smtp_host and smtp_password are needed; 500 rows at most"
    )
    check_only: bool = Field(default=False, description="Sign in, and connect nothing")


class MailboxImportRow(BaseModel):
    """One row of the file, and what became of it."""

    number: int = Field(description="Of the row in the file, the header not counted")
    address: str
    state: Literal["waiting", "connected", "checked", "failed", "refused"]
    message: str = Field(description="What was wrong, or what to know")
    account_id: str | None


class MailboxImportView(Answer):
    """An import of mailboxes, row by row."""

    id: str
    check_only: bool
    asked_at: datetime
    finished_at: datetime | None = Field(description="null while rows are tried")
    rows: list[MailboxImportRow]


@routes.post(needs=Role.ADMIN, scope="accounts:write", status_code=201)
async def import_mailboxes(
    act: Writer, workspace_id: Id, body: MailboxImportInput
) -> MailboxImportView:
    """Connect many mailboxes: each is signed in to in the background; ask for the import to see how it goes."""
    if act.caller.accounts is not None:
        raise Problem(403, "some_accounts", "A key for some accounts cannot connect others.")
    rows = read_mailbox_file(body.csv)
    if isinstance(rows, UnreadableFile):
        raise Problem(422, rows.code, rows.message)

    def operation(tx: Tx, now: datetime) -> MailboxImportView:
        made = mailbox_imports.add_import(
            tx,
            now,
            rows,
            workspace_id=workspace_id,
            id_=tx.new_id(),
            check_only=body.check_only,
            ring=act.runtime.keyring,
            by=act.by,
        )
        return _view(act, tx, made.id)

    return await act.write(operation)


@routes.get("/{mailbox_import_id}", needs=Role.ADMIN, scope="accounts:read")
async def show_mailbox_import(
    ask: Reader, workspace_id: Id, mailbox_import_id: Id
) -> MailboxImportView:
    """Show what became of each row."""
    if ask.caller.accounts is not None:
        raise not_found("import")
    return await ask.read(lambda tx, _: _view(ask, tx, mailbox_import_id))


def _view(ask: ReadContext, tx: Tx, id_: str) -> MailboxImportView:
    there = mailbox_imports.find_import(tx, ask.workspace_id, id_)
    if there is None:
        raise not_found("import")
    rows = [
        MailboxImportRow(
            number=each.number,
            address=each.address,
            state=each.state,  # pyright: ignore[reportArgumentType] - the table's constraint names the same
            message=each.message,
            account_id=each.account_id,
        )
        for each in mailbox_imports.list_rows(tx, ask.workspace_id, id_)
    ]
    return MailboxImportView(
        id=there.id,
        check_only=there.check_only,
        asked_at=there.asked_at,
        finished_at=there.finished_at,
        rows=rows,
    )
