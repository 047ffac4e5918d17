"""Tries imported mailboxes: a whole sign-in by SMTP, and by IMAP where a server is named, a few at a time, as a job.

What fails is told on its row and stops no other. A run that is cut short goes on with the rows that still wait.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from cadenza.accounts.open import import_row
from cadenza.accounts.seal import CannotOpen
from cadenza.bootstrap.model import Runtime
from cadenza.inbox import mailbox_imports
from cadenza.inbox.imap import ImapFailed, ImapServer, open_mailbox
from cadenza.inbox.mailbox_imports import ImportedRow, MailboxImport
from cadenza.providers.base import use_of
from cadenza.providers.connect import Connected, Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.registry import all_connectors
from cadenza.sql.tx import Tx

log = logging.getLogger("cadenza.imports")
NAME = mailbox_imports.JOB
AT_ONCE = 5  # sign-ins: one mail server is often behind all of them
OWN = ("from_name", "reply_to", "signature")  # settings that need no sign-in


async def import_mailboxes(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Try all rows of an import that still wait."""
    about = {name: str(payload[name]) for name in ("workspace_id", "import_id")}

    def look(tx: Tx, now: datetime) -> tuple[MailboxImport | None, list[ImportedRow], datetime]:
        there = mailbox_imports.find_import(tx, about["workspace_id"], about["import_id"])
        return there, mailbox_imports.list_rows(tx, *about.values()), now

    await runtime.operations.run(mailbox_imports.forget_imports)
    there, rows, now = await runtime.operations.read(look)
    if there is None:
        return
    turns = asyncio.Semaphore(AT_ONCE)

    async def attempt(row: ImportedRow) -> None:
        async with turns:
            await _try_row(runtime, there, row, now)

    async with asyncio.TaskGroup() as group:
        for row in rows:
            if row.state == "waiting":
                group.create_task(attempt(row))
    await runtime.operations.run(partial(mailbox_imports.finish_import, **about))


async def _try_row(runtime: Runtime, there: MailboxImport, row: ImportedRow, now: datetime) -> None:
    try:
        opened = runtime.keyring.open(
            row.sealed or "", row=import_row(row.workspace_id, row.import_id, row.number)
        )
    except CannotOpen:
        await _finish(runtime, row, "failed", "Its password cannot be opened: import it again.")
        return
    secrets = msgspec.json.decode(opened, type=dict[str, str])
    fields = msgspec.json.decode(row.fields, type=dict[str, str])
    found = await _sign_in(runtime, fields, secrets, now)
    if not isinstance(found, Connected):
        await _finish(runtime, row, "failed", f"Sending: {found}")
        return
    imap = _imap(fields, secrets)
    try:
        if imap is not None:
            async with open_mailbox(runtime.http, imap) as session:
                await session.folders()
    except ImapFailed as failed:
        await _finish(runtime, row, "failed", f"Reading: {failed.message}")
        return
    if there.check_only:
        await _finish(runtime, row, "checked", "")
        return
    done = partial(
        mailbox_imports.connect_row,
        row=row,
        connected=found,
        imap=imap,
        ring=runtime.keyring,
        by=there.asked_by,
    )
    await runtime.operations.run(done)


async def _sign_in(
    runtime: Runtime, fields: Mapping[str, str], secrets: Mapping[str, str], now: datetime
) -> Connected | str:
    """Sign in as connecting one by hand does; return the account, or what the server said."""
    typed: dict[str, str | Secret] = {
        name.removeprefix("smtp_"): value
        for name, value in fields.items()
        if not name.startswith("imap_") and name not in OWN
    }
    typed["from_name"] = fields.get("from_name", "")
    typed["security"] = fields.get("smtp_security", "").lower()
    typed["password"] = Secret(secrets.get("smtp_password", ""))
    connecting = Connecting(
        http=runtime.http.for_use(use_of("smtp")), app=runtime.app_of("smtp"), now=now, typed=typed
    )
    answer = await all_connectors()["smtp"].begin(connecting)
    if not isinstance(answer, tuple):
        return str(getattr(answer, "message", "") or "The mail server did not let us in.")
    own = {name: fields[name] for name in OWN if fields.get(name)}
    (found,) = answer
    return replace(found, settings={**found.settings, **own})


def _imap(fields: Mapping[str, str], secrets: Mapping[str, str]) -> ImapServer | None:
    host = fields.get("imap_host")
    if not host:
        return None
    security = fields.get("imap_security", "").lower() or "tls"
    user = fields.get("imap_username") or fields.get("smtp_username") or fields["from_address"]
    return ImapServer(
        host=host,
        port=int(fields.get("imap_port") or (993 if security == "tls" else 143)),
        security=security,
        username=user,
        password=Secret(secrets.get("imap_password") or secrets.get("smtp_password", "")),
    )


async def _finish(runtime: Runtime, row: ImportedRow, state: str, message: str) -> None:
    done = partial(mailbox_imports.finish_row, row=row, state=state, message=message)
    await runtime.operations.run(done)
