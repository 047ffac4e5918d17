"""The mailbox of an account: where its replies and bounces are read, by IMAP."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from cadenza.accounts.open import mailbox_row
from cadenza.api.problems import Problem, invalid, not_found
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line
from cadenza.bootstrap.read_mailboxes import access_tokens
from cadenza.inbox import mailboxes
from cadenza.inbox.imap import ImapFailed, ImapServer, open_mailbox
from cadenza.inbox.mailboxes import Mailbox, NewMailbox
from cadenza.people.model import Role
from cadenza.providers.http.redact import Secret
from cadenza.sql.tx import Tx

routes = Resource("mailboxes", "/workspaces/{workspace_id}/accounts/{account_id}/mailbox")
Host = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.:-]+$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00]*$")]


class MailboxInput(InputModel):
    """Where replies and bounces arrive."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"host": "imap.invalid", "username": "ada@example.org", "password": "secret"}
            ]
        }
    )
    host: Host
    port: int | None = Field(default=None, strict=True, ge=1, le=65_535, description="993, or 143")
    security: Literal["tls", "starttls", "none"] = "tls"
    username: Line
    auth: Literal["password", "xoauth2"] = Field(
        default="password",
        description="xoauth2: by the account's own access, as Google and Microsoft ask for",
    )
    password: Password | None = Field(
        default=None, description="Often one for apps alone; stored sealed"
    )


class MailboxView(Answer):
    """A mailbox that is read, and whether that works."""

    host: str
    port: int
    security: str
    username: str
    auth: str
    waits: bool = Field(description="New mail is read at once, not only every two minutes")
    polled_at: datetime | None = Field(description="When it was read last")
    next_poll_at: datetime
    error: str | None = Field(description="Why it could not be read")


class MailboxRemoved(Answer):
    """It is read no more."""

    account_id: str


@routes.get(needs=Role.ADMIN, scope="inbox:read")
async def show_mailbox(ask: Reader, workspace_id: Id, account_id: Id) -> MailboxView:
    """Show where replies and bounces of an account are read, and whether that works."""
    found = await ask.read(lambda tx, _: mailboxes.find_mailbox(tx, workspace_id, account_id))
    if found is None:
        raise not_found("mailbox")
    return _view(found)


@routes.put(needs=Role.ADMIN, scope="inbox:write")
async def set_mailbox(
    act: Writer, workspace_id: Id, account_id: Id, body: MailboxInput
) -> MailboxView:
    """Sign in once, then read the mailbox from now on; nothing in it is changed."""
    port = body.port or (993 if body.security == "tls" else 143)
    if (body.password is None) != (body.auth == mailboxes.XOAUTH2):
        raise invalid("body.password", "give a password, or sign in by xoauth2 without one")
    sealed = ""
    if body.password is not None:
        row = mailbox_row(workspace_id, account_id)
        sealed = act.runtime.keyring.seal(body.password, row=row)
    new = NewMailbox(
        workspace_id=workspace_id,
        account_id=account_id,
        host=body.host,
        port=port,
        security=body.security,
        username=body.username,
        sealed=sealed,
        auth=body.auth,
    )
    server = ImapServer(
        host=body.host,
        port=port,
        security=body.security,
        username=body.username,
        password=None if body.password is None else Secret(body.password),
        tokens=access_tokens(act.runtime, new) if body.password is None else None,
    )
    await act.claim_key()
    try:
        async with open_mailbox(act.runtime.http, server) as session:
            await session.folders()
    except ImapFailed as failed:
        raise Problem(422, "mailbox_refused", failed.message) from failed

    def operation(tx: Tx, now: datetime) -> MailboxView:
        return _view(mailboxes.save_mailbox(tx, now, new, by=act.by))

    return await act.write(operation)


@routes.delete(needs=Role.ADMIN, scope="inbox:write")
async def remove_mailbox(act: Writer, workspace_id: Id, account_id: Id) -> MailboxRemoved:
    """Read the mailbox no more; what was read stays."""

    def operation(tx: Tx, now: datetime) -> MailboxRemoved:
        if not mailboxes.remove_mailbox(
            tx, now, workspace_id=workspace_id, account_id=account_id, by=act.by
        ):
            raise not_found("mailbox")
        return MailboxRemoved(account_id=account_id)

    return await act.write(operation)


def _view(found: Mailbox) -> MailboxView:
    return MailboxView(
        host=found.host,
        port=found.port,
        security=found.security,
        username=found.username,
        auth=found.auth,
        waits=found.error is None and found.watched_until is not None,
        polled_at=found.polled_at,
        next_poll_at=found.next_poll_at,
        error=found.error,
    )
