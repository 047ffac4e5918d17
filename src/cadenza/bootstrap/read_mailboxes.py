"""Reads mailboxes for replies and bounces: a job finds those whose time has come, and each is read by a job of its own.

A folder that is read for the first time begins with the mails that come from then on. When a server gives the mails
of a folder new numbers, the last 30 days are read again; what was recorded then stays recorded once.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from cadenza.accounts.seal import CannotOpen
from cadenza.bootstrap.model import Runtime
from cadenza.inbox import mailboxes
from cadenza.inbox.imap import AccessTokens, Folder, ImapFailed, ImapSession, open_mailbox
from cadenza.inbox.mailboxes import FolderPlace, Mailbox, NewMailbox
from cadenza.inbox.record import match_again
from cadenza.providers.http.redact import Secret

log = logging.getLogger("cadenza.inbox")
EVERY = "* * * * *"
NAME = mailboxes.JOB
CHUNK = 20  # mails of one transaction
AGAIN = timedelta(days=30)


async def find_mail(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Let mailboxes be read that are due, and match what came in before its send was settled."""
    await runtime.operations.run(mailboxes.enqueue_due)
    await runtime.operations.run(match_again)


async def read_mailbox(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Read what is new in one mailbox; a failure is told on it and tried again later."""
    about = {name: str(payload[name]) for name in ("workspace_id", "account_id")}
    there = await runtime.operations.read(
        lambda tx, _: mailboxes.find_mailbox(tx, about["workspace_id"], about["account_id"])
    )
    if there is None:
        return
    error: str | None = None
    try:
        await read_new(runtime, there)
    except ImapFailed as failed:
        error = failed.message
    except CannotOpen:
        error = "The password cannot be opened: enter it again."
    if error is not None:
        log.warning("a mailbox cannot be read", extra={**about, "error": error})
    await runtime.operations.run(partial(mailboxes.finish_poll, error=error, **about))


async def read_new(runtime: Runtime, there: Mailbox) -> int:
    """Read all folders of a mailbox; return how many mails."""
    count = 0
    server = there.server(runtime.keyring, access_tokens(runtime, there))
    async with open_mailbox(runtime.http, server) as session:
        for folder in await session.folders():
            state = await session.examine(folder)
            place = there.places.get(folder)
            if place is None:
                await _record(runtime, there, folder, [], _end_of(state))
                continue
            if place.validity == state.validity:
                uids = await session.newer_than(place.uid)
            else:
                now = await runtime.operations.read(_now)
                uids = await session.since(now - AGAIN)
            count += await _read(runtime, session, there, folder, state, uids)
    return count


def access_tokens(runtime: Runtime, there: Mailbox | NewMailbox) -> AccessTokens:
    """Bring the tokens of a mailbox's account, renewed as those that it sends with are."""

    async def bring(*, refused: bool) -> Secret | None:
        answer = await runtime.refresher.read_access_token(
            there.workspace_id, there.account_id, refused=refused
        )
        return answer if isinstance(answer, Secret) else None

    return bring


async def _read(
    runtime: Runtime,
    session: ImapSession,
    there: Mailbox,
    folder: str,
    state: Folder,
    uids: list[int],
) -> int:
    for start in range(0, len(uids), CHUNK):
        some = uids[start : start + CHUNK]
        mails = await session.fetch(some)
        await _record(runtime, there, folder, mails, FolderPlace(state.validity, some[-1]))
    known = there.places.get(folder)
    if not uids and known is not None and known.validity != state.validity:
        await _record(runtime, there, folder, [], _end_of(state))
    return len(uids)


async def _record(
    runtime: Runtime, there: Mailbox, folder: str, mails: Any, place: FolderPlace
) -> None:
    operation = partial(
        mailboxes.record_mails,
        workspace_id=there.workspace_id,
        account_id=there.account_id,
        folder=folder,
        mails=mails,
        place=place,
    )
    await runtime.operations.run(operation)


def _end_of(state: Folder) -> FolderPlace:
    return FolderPlace(state.validity, max(0, state.next_uid - 1))


def _now(tx: object, now: datetime) -> datetime:
    return now
