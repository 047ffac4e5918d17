"""Asks networks for replies and acceptances: a job finds the accounts whose time has come, each has a job of its own.

A network that says the account is signed out loses it at once, with a notice; a lost account is asked now and then
whether it is signed in again.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from cadenza.accounts.model import Account, read_account
from cadenza.accounts.open import open_account_tokens, refer
from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.accounts.seal import CannotOpen
from cadenza.bootstrap.model import Runtime
from cadenza.inbox import polls
from cadenza.inbox.account_status import note_status
from cadenza.inbox.polls import Poll
from cadenza.providers.base import AttemptContext, Provider, use_of
from cadenza.providers.message import Message, Tokens
from cadenza.providers.outcome import Disconnected, Outcome, TryLater
from cadenza.providers.poll import PollRange
from cadenza.providers.registry import all_pollers, provider
from cadenza.sql.tx import Tx

log = logging.getLogger("cadenza.inbox")
EVERY = "* * * * *"
NAME = polls.JOB
CHUNK = 50  # events of one transaction


async def find_polls(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Let accounts be asked for that are due."""
    await runtime.operations.run(partial(polls.enqueue_due, providers=sorted(all_pollers())))


async def poll_account(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Ask for what came in for one account; a failure is told on it and tried again later."""
    about = {name: str(payload[name]) for name in ("workspace_id", "account_id")}

    def look(tx: Tx, now: datetime) -> tuple[Poll | None, Account | None, bool, datetime]:
        poll = polls.find_poll(tx, **about)
        wanted = poll is not None and polls.wants_relations(tx, now, poll)
        return poll, read_account(tx, **about), wanted, now

    poll, account, relations, now = await runtime.operations.read(look)
    if poll is None or account is None:
        return
    try:
        tokens = open_account_tokens(runtime.keyring, account)
    except CannotOpen:
        tokens = None
    if tokens is None:
        await _fail(runtime, poll, "The account has no credentials: connect it again.")
        return
    adapter = provider(account.provider)
    call = AttemptContext(
        account=refer(account),
        tokens=tokens,
        app=runtime.app_of(account.provider),
        http=runtime.http.for_use(use_of(account.provider)),
        now=now,
        message=Message(channel=adapter.channels[0]),
    )
    if not account.can_send and not await _is_back(runtime, account, adapter, call):
        reason = account.state_reason or f"The account is {account.state}."
        await _fail(runtime, poll, reason, polls.LOST_EVERY)
        return
    wanted = PollRange(poll.since, relations, poll.known)
    got = await all_pollers()[account.provider].poll(call, wanted)
    if isinstance(got, Outcome):
        await _note_failure(runtime, poll, account, got)
        return
    for start in range(0, len(got.events), CHUNK):
        some = got.events[start : start + CHUNK]
        await runtime.operations.run(
            partial(polls.record_polled, kind=account.provider, events=some, **about)
        )
    done = partial(
        polls.finish_poll,
        poll=poll,
        since_at=now,
        relations=got.known,
        read_relations=relations,
        spread=runtime.rng.fraction(),
    )
    await runtime.operations.run(done)


async def _is_back(
    runtime: Runtime, account: Account, adapter: Provider, call: AttemptContext
) -> bool:
    """Let a lost account send whose network says that it is signed in again; say whether it is."""
    if account.state != "needs_reconnect" or not isinstance(await adapter.refresh(call), Tokens):
        return False
    about = {"workspace_id": account.workspace_id, "account_id": account.id}
    await runtime.operations.run(partial(note_status, status="OK", by="poll", **about))
    return True


async def _note_failure(runtime: Runtime, poll: Poll, account: Account, got: Outcome) -> None:
    message = str(getattr(got, "message", "") or "The network could not be asked.")
    about = {"workspace_id": poll.workspace_id, "account_id": poll.account_id}
    log.warning("an account cannot be polled", extra={**about, "error": message})
    if isinstance(got, Disconnected):
        await runtime.operations.run(
            partial(require_reconnect, message=message, issued_at=account.token_issued_at, **about)
        )
    await _fail(runtime, poll, message, got.wait if isinstance(got, TryLater) else None)


async def _fail(runtime: Runtime, poll: Poll, error: str, wait: timedelta | None = None) -> None:
    await runtime.operations.run(partial(polls.fail_poll, poll=poll, error=error, wait=wait))
