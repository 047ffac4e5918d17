"""From an HTTP result to an outcome: the one place that decides whether a call may have happened.

Every adapter asks through `ask`. What never left is `Transient`. What may have arrived is `Transient`
only if repeating does no harm (`Request.repeatable`), else `Unconfirmed`. A success without an id is
still a success: `sent` says so, and the id is looked for later. Nothing is retried here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.providers.base import AttemptContext
from cadenza.providers.errors import A_MINUTE, Refusal, Table, on_irreversible
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reason, Reply
from cadenza.providers.http.outcome import Outcome as HttpOutcome
from cadenza.providers.http.redact import Secret, redact
from cadenza.providers.http.request import Request
from cadenza.providers.outcome import (
    CannotTell,
    Forbidden,
    NotReady,
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.waits import retry_after


@dataclass(frozen=True, slots=True)
class HttpSuccess:
    """A success: the reply, and its body as JSON (None if it is none)."""

    reply: Reply
    data: Any

    def at(self, *path: str) -> Any:
        """Return what lies at a path of the body, or None; no shape of a body raises."""
        value = self.data
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def text(self, *path: str) -> str | None:
        """Return the text at a path; numbers become text, as ids are text to us."""
        value = self.at(*path)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        return str(value) or None


async def ask(call: AttemptContext, request: Request, table: Table) -> HttpSuccess | Outcome:
    """Send a request of a call and return its success, or what its failure means."""
    return await ask_through(call.http, request, table, now=call.now, secrets=secrets_of(call))


async def ask_through(
    http: OutboundClient,
    request: Request,
    table: Table,
    *,
    now: datetime,
    secrets: Iterable[Secret] = (),
) -> HttpSuccess | Outcome:
    """Do the same without a call, e.g. while an account is being connected."""
    return judge(await http.send(request), request, table, now=now, secrets=secrets)


def judge(
    result: HttpOutcome,
    request: Request,
    table: Table,
    *,
    now: datetime,
    secrets: Iterable[Secret] = (),
) -> HttpSuccess | Outcome:
    """Say what a result means, for an adapter that must see how a request ended by itself."""
    match result:
        case NotSent() as never:
            return _not_sent(never)
        case MayHaveArrived() as perhaps:
            if not request.repeatable:
                return Unconfirmed(perhaps.message)
            return Transient(perhaps.message, out_of_order=True)
        case Reply() as reply if reply.ok:
            return HttpSuccess(reply, reply.json())
        case Reply() as reply:
            return _refused(reply, request, table, now=now, secrets=tuple(secrets))


def sent(got: HttpSuccess, remote_id: str | None, url: str | None = None) -> Sent:
    """Say that it is out, also if the answer did not say under which id."""
    note = None if remote_id else "The network accepted it without naming it; its id is looked for."
    return Sent(remote_id, url, note)


def no_answer(got: HttpSuccess | Outcome, message: str, again: timedelta) -> CannotTell:
    """Say that looking brought no answer; a rate limit met on the way is waited out."""
    if isinstance(got, TryLater | NotReady):
        return CannotTell(got.message or message, max(got.wait, again))
    return CannotTell(getattr(got, "message", "") or message, again)


def bearer(token: Secret) -> Secret:
    """Make the value of an `Authorization` header."""
    return Secret(f"Bearer {token.reveal()}")


def secrets_of(call: AttemptContext) -> tuple[Secret, ...]:
    """Return all that must not show in any text about this call."""
    tokens = call.tokens
    found = (tokens.access, tokens.refresh, call.app.client_secret, *tokens.extra.values())
    return tuple(secret for secret in found if secret is not None)


def _not_sent(never: NotSent) -> Outcome:
    if never.reason is Reason.BAD_ADDRESS:
        return Forbidden(f"{never.message} Correct the account's address.", never.reason.value)
    if never.reason is Reason.BAD_REQUEST:
        return Rejected("The message holds something that cannot be sent.", never.reason.value)
    return Transient(never.message, out_of_order=True)


def _refused(
    reply: Reply, request: Request, table: Table, *, now: datetime, secrets: tuple[Secret, ...]
) -> Outcome:
    refusal = table.read(reply, now)
    if refusal is None:
        return _not_the_network(reply, request, table.before_it, now)
    refusal = _redacted(refusal, (*secrets, *request.secrets))
    return table.judge(refusal if request.repeatable else on_irreversible(refusal))


def _redacted(refusal: Refusal, secrets: tuple[Secret, ...]) -> Refusal:
    code = redact(refusal.code, secrets) if isinstance(refusal.code, str) else refusal.code
    return replace(refusal, code=code, words=redact(refusal.words, secrets))


def _not_the_network(reply: Reply, request: Request, reach: WaitScope, now: datetime) -> Outcome:
    """Judge an answer that is not in the network's shape: something in between spoke."""
    message = f"Something between us and the network answered with status {reply.status}."
    wait = retry_after(reply, now)
    if reply.status == 429:
        return TryLater(wait or A_MINUTE, reach, message, named=wait is not None)
    if 300 <= reply.status < 400:
        return Forbidden(f"{message} Check the account's address: it leads elsewhere.", "redirect")
    may_have_happened = reply.status >= 500 or reply.status in {408, 499}
    wait_or_unconfirmed = reply.status == 503 and wait is not None
    if may_have_happened and not wait_or_unconfirmed and not request.repeatable:
        return Unconfirmed(message)
    return Transient(message, wait=wait, out_of_order=reply.status >= 500)
