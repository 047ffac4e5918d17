"""One delivery on its way out: load, render, prepare, permit, the one call, and what came of it.

Provider calls stand between transactions, never inside one. Whatever happens ends in one `Result`;
without a permit nothing was called, so an error of our own is a try that waits and ends like another. A token
is refreshed once when the network refuses it; a thread's parts each need a permit of their own, and each
one's remote id is saved before the next is sent.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from msgspec import structs

from cadenza.accounts.model import Account
from cadenza.accounts.refresh import Later, Lost, Ready
from cadenza.accounts.refresher import Refresher
from cadenza.accounts.seal import CannotOpen
from cadenza.core.clock import Clock
from cadenza.core.ids import Random
from cadenza.deliveries.check_fit import check_fitted
from cadenza.deliveries.known_posts import known_posts
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import GRACE, PermitRequest, Permitted, Stale
from cadenza.deliveries.reconcile import Held, Lookup, UnconfirmedAttempt
from cadenza.deliveries.record_exchanges import RecordedExchange, worth_keeping
from cadenza.deliveries.render import Files, render_fitted
from cadenza.deliveries.request_permit import ASK_AGAIN, Permits
from cadenza.deliveries.save_prepared import save_prepared
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.deliveries.shield_calls import CallShield
from cadenza.deliveries.source import DeliverySource
from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Settlement, Stopped, Verdict
from cadenza.engine.slots import Slot
from cadenza.providers.base import (
    QUICKLY,
    AttemptContext,
    Prepared,
    Provider,
    StillPreparing,
    use_of,
)
from cadenza.providers.fit_picture import rules_of
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.exchange import ExchangeLog, Step
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import (
    Disconnected,
    NotReady,
    Outcome,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.reply import secrets_of
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations

log = logging.getLogger("cadenza.deliveries")

A_MINUTE = timedelta(minutes=1)
A_QUARTER = timedelta(minutes=15)
FINISHING = 5.0  # seconds for what is only nice to have
FRESH = (
    GRACE.total_seconds()
)  # seconds within which a permit must be used, from when it was asked for
PROMPT = 1.0  # seconds within which the call begins once the permit is known: whoever stops it later wins


@dataclass(frozen=True, slots=True)
class Sender:
    """An account as a call needs it, opened for the moment."""

    provider: Provider
    account: AccountRef
    tokens: Tokens
    app: App


@dataclass(frozen=True, slots=True)
class DatabaseTime:
    """The database's clock as it was read, carried on by one that only rises: a worker's own decides nothing."""

    at: datetime
    here: float  # when it was asked for, or later

    def now(self, clock: Clock) -> datetime:
        """Say what it shows by now."""
        return self.at + timedelta(seconds=clock.monotonic() - self.here)


@dataclass(slots=True)
class _Run:
    """One claimed delivery on its way out, with what its run has changed so far."""

    ticket: ClaimedDelivery
    permitted: bool = False  # the call may be out
    renewed: bool = False  # its tokens were, once

    def use(self, account: Account) -> None:
        """Go on with this account: its tokens are newer."""
        self.ticket = structs.replace(self.ticket, account=account)

    def keep(self, **changes: Any) -> None:
        """Remember what was saved with the delivery."""
        delivery = structs.replace(self.ticket.delivery, **changes)
        self.ticket = structs.replace(self.ticket, delivery=delivery)


class Publisher:
    """The pipeline's runner: what the engine's worker calls for each claimed delivery."""

    def __init__(
        self,
        source: DeliverySource,
        operations: Operations,
        *,
        open_sender: Callable[[ClaimedDelivery], Sender],
        http: OutboundClient,
        files: Files,
        clock: Clock,
        rng: Random,
        new_id: Callable[[], str],
        refresher: Refresher | None = None,
    ) -> None:
        self._source = source
        self._operations = operations
        self._open_sender = open_sender
        self._http = http
        self._files = files
        self._clock = clock
        self._rng = rng
        self._new_id = new_id
        self._refresher = refresher
        self._ending = CallShield()
        self._permits = Permits(operations, clock)

    async def run(self, claimed: Claimed, slot: Slot) -> Settlement:
        """Take one delivery through the pipeline."""
        run = _Run(self._source.ticket(claimed.id))
        try:
            result = await self._publish(run)
        except SqlError as error:  # the store is away: what was not permitted goes back
            log.warning("store away, a delivery waits", extra={"error": str(error)})
            result = Stale()
        except Exception as error:
            if run.permitted:
                raise  # the call may be out: rescue will doubt it
            log.exception("a delivery did not come to its call", extra={"delivery": run.ticket.id})
            result = self._own_fault(run.ticket, error)
        if result is None:
            self._source.forget(claimed.id)
        elif not isinstance(result, Stale):
            self._source.record_result(claimed.id, result)
        return Settlement(claimed.id, claimed.lease, Verdict.DONE)

    def _own_fault(self, ticket: ClaimedDelivery, error: Exception) -> Result:
        """An error of ours before the call: put back untouched, it would be met again at once, for ever."""
        if isinstance(error, CannotOpen):  # nothing of the account can go without that key
            return self._result(ticket, TryLater(A_QUARTER, WaitScope.ACCOUNT, str(error)))
        message = f"our own side failed before the call: {type(error).__name__}"
        return self._result(ticket, Transient(message))

    def stopped(self, claimed: Claimed, reason: Stopped) -> Settlement:
        """A run that was cut short: before the permit it goes back; after it, rescue will doubt it."""
        return Settlement(claimed.id, claimed.lease, Verdict.RELEASED)

    async def find_out(self, unconfirmed: UnconfirmedAttempt) -> Lookup | Held:
        """Ask the network about an attempt that nobody answered; the reconciler's question."""
        run, attempt = _Run(unconfirmed.ticket), unconfirmed.attempt
        sender = await self._load(run)
        ticket = run.ticket
        message = await self._rendered(ticket, sender)
        repeats = sender.provider.capabilities(message.channel).repeats
        others = await self._operations.read(lambda tx, _: known_posts(tx, unconfirmed))
        start = await self._permits.start_repeat(unconfirmed) if repeats else None
        requested = self._clock.monotonic()
        now = await self._may_look(unconfirmed, start, repeats=repeats)
        if isinstance(now, Held):
            return now
        if repeats and self._clock.monotonic() - requested > FRESH:
            return Held("the permit for it had grown old before the call")
        made = self._call(ticket, sender, message, DatabaseTime(now, requested))
        call, notes = self._noted(made, Step.FIND_OUT)
        call = replace(
            call,
            key=attempt.key,
            part=attempt.part,
            sent_parts=tuple(ticket.delivery.sent_parts),
            began_at=attempt.began_at,
            others=others,
        )
        async with asyncio.timeout(QUICKLY.total_seconds() if repeats else None):
            finding = await sender.provider.find_out(call)
        # Under names of the attempt's own: it may be looked at for days, and the last look is kept.
        named = enumerate(notes.take())
        return Lookup(
            finding, tuple(RecordedExchange(f"{attempt.id}-{n}", each) for n, each in named)
        )

    async def _may_look(
        self, unconfirmed: UnconfirmedAttempt, start: datetime | None, *, repeats: bool
    ) -> datetime | Held:
        """Read the database's clock; where looking may send, together with all that could hold it."""
        if not repeats:
            return await self._operations.read(lambda _, now: now)
        return await self._permits.ask_repeat(unconfirmed, start)

    async def _publish(self, run: _Run) -> Result | Stale | None:
        """Return what is to be settled; None: the permit has; `Stale`: it goes back if it is ours."""
        assert run.ticket.claimed_at is not None, "a worker has claimed it"
        claimed = DatabaseTime(run.ticket.claimed_at, self._clock.monotonic())
        sender = await self._load(run)
        account = run.ticket.account
        if not account.can_send:
            return self._result(run.ticket, Disconnected(account.state_reason or account.state))
        if run.ticket.problem is not None:
            return await self._refused_content(run.ticket, (run.ticket.problem,))
        message, problems = await self._render(run.ticket, sender)
        if message is None:
            return await self._refused_content(run.ticket, problems)
        call = self._call(run.ticket, sender, message, claimed)
        return await self._send_parts(run, sender, call, problems)

    async def _send_parts(
        self, run: _Run, sender: Sender, call: AttemptContext, problems: tuple[str, ...]
    ) -> Result | Stale | None:
        """Send each part that is not out yet: prepared for itself, under a permit of its own."""
        last = len(call.message.parts)
        takes = sender.provider.capabilities(call.message.channel).takes(call.message)
        sent_parts = run.ticket.delivery.sent_parts
        begun_at = len(sent_parts)
        call, notes = self._noted(call, Step.PREPARE)
        for part in itertools.count(begun_at):
            call = replace(call, part=part, sent_parts=tuple(sent_parts))
            notes.step = Step.PREPARE
            prepared = await self._prepare(call, run)
            if not isinstance(prepared, Prepared):
                return self._result(run.ticket, prepared, notes=notes)
            call = self._with_newest_tokens(call, run)
            request = PermitRequest(
                run.ticket, self._new_id(), part, problems, first=part == begun_at, takes=takes
            )
            request = await self._permits.take_start(request)
            requested = self._clock.monotonic()
            answer = await self._permits.ask(request)
            if not isinstance(answer, Permitted):
                return answer if isinstance(answer, Stale) else None
            known = self._clock.monotonic()
            run.permitted = True
            notes.step = Step.PUBLISH
            call = replace(
                call,
                key=answer.key,
                state=prepared.state,
                began_at=answer.began_at,
                now=DatabaseTime(answer.began_at, requested).now(self._clock),
            )
            outcome = await self._ending.run(
                self._irreversibly(
                    sender.provider,
                    call,
                    run,
                    takes.total_seconds(),
                    best_before=min(requested + FRESH, known + PROMPT),
                ),
                partial(
                    self._keep,
                    run,
                    answer.attempt_id,
                    notes=notes,
                    parts=sent_parts if part < last else None,
                ),
            )
            call = self._with_newest_tokens(call, run)
            if isinstance(outcome, Sent) and outcome.remote_id is None and part < last:
                outcome = Unconfirmed("this part is out, but its id is needed for the next")
            if not isinstance(outcome, Sent) or part >= last:
                if isinstance(outcome, Sent):
                    notes.step = Step.FINISH
                    outcome = await self._finish(sender.provider, call, outcome)
                return self._result(run.ticket, outcome, answer.attempt_id, notes=notes)
            between = self._result(
                run.ticket, outcome, answer.attempt_id, notes=notes, parts=sent_parts
            )
            try:
                won = await self._settle_between(between)
            except SqlError:  # the settler tries until it is written; rescue then goes on
                return between
            if not won:
                return None
            sent_parts = list(between.parts)
            run.permitted = False
        return None

    async def _keep(
        self,
        run: _Run,
        attempt_id: str,
        outcome: Outcome,
        *,
        notes: ExchangeLog,
        parts: Sequence[str | None] | None,
    ) -> None:
        """Write what a call came to after its run was cut short; whoever holds the delivery by now."""
        result = self._result(run.ticket, outcome, attempt_id, notes=notes, parts=parts)
        for pause in (*ASK_AGAIN, None):
            try:
                await self._settle_between(result)
            except SqlError as error:
                log.warning("store away, evidence waits", extra={"error": str(error)})
                if pause is not None:
                    await self._clock.sleep(pause)
            else:
                return

    async def wait_for_calls(self) -> None:
        """Wait for calls that outlived their runs; the last thing before a process goes."""
        await self._ending.wait()

    async def _settle_between(self, part: Result) -> bool:
        """Save a part's remote id before the next is sent."""
        (won,) = await self._operations.run(
            lambda tx, now: settle(tx, now, [part]), locks=settle_locks([part])
        )
        return won

    async def _irreversibly(
        self,
        provider: Provider,
        call: AttemptContext,
        run: _Run,
        takes: float,
        *,
        best_before: float,
    ) -> Outcome:
        """Make the call; once more with renewed tokens if these were refused and the permit lasts."""
        began = self._clock.monotonic()
        if began > best_before:
            # A call that began now could outlast the deadline, and others go by that. Asked here, with
            # nothing to wait for before the call: a process may sleep wherever it waits for its turn.
            return NotReady(timedelta(), "its permit had grown old before the call")
        outcome = await self._call_within(takes, provider, call)
        if not isinstance(outcome, Disconnected):
            return outcome
        renewed = await self._renew(run, outcome)
        if not isinstance(renewed, Tokens):
            return renewed
        left = takes - (self._clock.monotonic() - began)
        if left < takes / 2:
            return NotReady(timedelta(), "its token was renewed; it goes with the new one")
        return await self._call_within(left, provider, with_tokens(call, renewed))

    async def _call_within(
        self, seconds: float, provider: Provider, call: AttemptContext
    ) -> Outcome:
        """Make the call; no answer in time, or an error of our own in the middle, is an unconfirmed send."""
        try:
            async with asyncio.timeout(seconds):
                return await provider.publish(call)
        except TimeoutError:
            return Unconfirmed(f"no answer within {seconds:.0f} seconds")
        except Exception as error:  # noqa: BLE001 - after the permit nothing may be assumed
            return Unconfirmed(f"our own adapter failed in the call: {type(error).__name__}")

    async def _prepare(self, call: AttemptContext, run: _Run) -> Prepared | Outcome:
        """Do what may be repeated, and save what it made over there before going on, or where it failed."""
        try:
            found, state = await call_prepare(call, self._open_sender(run.ticket).provider)
            if isinstance(found, Disconnected):
                found = await self._renew(run, found)
            if isinstance(found, Tokens):
                again = replace(with_tokens(call, found), state=state)
                found, state = await call_prepare(again, self._open_sender(run.ticket).provider)
        except Exception as error:  # noqa: BLE001 - nothing irreversible has happened
            return Transient(f"preparing failed: {type(error).__name__}: {error}")
        text = msgspec.json.encode(dict(state)).decode()
        if text != (run.ticket.delivery.prepared or "{}"):
            await self._operations.run(lambda tx, _: save_prepared(tx, run.ticket, text))
            run.keep(prepared=text)
        if isinstance(found, StillPreparing):
            return NotReady(max(found.wait, timedelta(seconds=1)), found.message)
        return found

    async def _renew(self, run: _Run, refused: Disconnected) -> Tokens | Outcome:
        """Bring other tokens for refused ones, once a run; trouble in doing so disconnects nobody."""
        if self._refresher is None or run.renewed:
            return refused
        run.renewed = True
        try:
            answer = await self._refresher.force(run.ticket.account)
        except SqlError:
            return TryLater(
                A_MINUTE, WaitScope.ACCOUNT, "the store was away while renewing the token"
            )
        except Exception as error:  # noqa: BLE001 - nothing of it may reach a log but its kind
            message = f"our own side failed while renewing the token: {type(error).__name__}"
            return TryLater(A_MINUTE, WaitScope.ACCOUNT, message)
        match answer:
            case Ready(account):
                run.use(account)
                return self._open_sender(run.ticket).tokens
            case Lost(message):
                return Disconnected(message)
            case Later(message, wait):
                return TryLater(wait, WaitScope.ACCOUNT, message)

    def _with_newest_tokens(self, call: AttemptContext, run: _Run) -> AttemptContext:
        return with_tokens(call, self._open_sender(run.ticket).tokens) if run.renewed else call

    async def _finish(self, provider: Provider, call: AttemptContext, sent: Sent) -> Sent:
        """Bring the address and the like; never at the price of the delivery."""
        try:
            async with asyncio.timeout(FINISHING):
                return await provider.finish(call, sent)
        except Exception:  # noqa: BLE001 - it is out; the rest is only nice to have
            return sent

    async def _load(self, run: _Run) -> Sender:
        """Open the account, its tokens renewed if they run out."""
        run.use(await self._renew_tokens(run.ticket.account))
        return self._open_sender(run.ticket)

    async def _renew_tokens(self, account: Account) -> Account:
        """Renew tokens that run out; while that does not work, those at hand are tried."""
        if self._refresher is None or not account.can_send:
            return account
        match await self._refresher.ready(account):
            case Ready(fresh):
                return fresh
            case Lost(message):
                return structs.replace(account, state="needs_reconnect", state_reason=message)
            case Later():
                return account

    async def _rendered(self, ticket: ClaimedDelivery, sender: Sender) -> Message:
        """Render what goes out, its pictures changed to what the channel takes."""
        rules = rules_of(sender.provider.name, ticket.delivery.channel, sender.account)
        return await render_fitted(ticket.delivery, self._files, rules)

    async def _render(
        self, ticket: ClaimedDelivery, sender: Sender
    ) -> tuple[Message | None, tuple[str, ...]]:
        fit = await check_fitted(sender.provider, sender.account, ticket.delivery, self._files)
        return fit.message, tuple(problem.message for problem in fit.blocking)

    async def _refused_content(
        self, ticket: ClaimedDelivery, problems: tuple[str, ...]
    ) -> Stale | None:
        """Let the permit say it, in its order: another gate may come first, or an edit."""
        answer = await self._permits.ask(PermitRequest(ticket, self._new_id(), 0, problems))
        return answer if isinstance(answer, Stale) else None

    def _call(
        self, ticket: ClaimedDelivery, sender: Sender, message: Message, reading: DatabaseTime
    ) -> AttemptContext:
        return AttemptContext(
            account=sender.account,
            tokens=sender.tokens,
            app=sender.app,
            http=self._http.for_use(use_of(sender.provider.name)),
            now=reading.now(self._clock),
            message=message,
            state=msgspec.json.decode(ticket.delivery.prepared or "{}"),
        )

    def _noted(self, call: AttemptContext, step: Step) -> tuple[AttemptContext, ExchangeLog]:
        """Let the run keep what it says to the network."""
        notes = ExchangeLog(secrets_of(call))
        notes.step = step
        return replace(call, http=call.http.recording_to(notes)), notes

    def _result(
        self,
        ticket: ClaimedDelivery,
        outcome: Outcome,
        attempt_id: str | None = None,
        *,
        notes: ExchangeLog | None = None,
        parts: Sequence[str | None] | None = None,
    ) -> Result:
        """Say what a run came to; `parts` are those of a thread before this one, if more follow."""
        kept = worth_keeping(outcome, attempt_id, notes.take() if notes else ())
        exchanges = tuple(RecordedExchange(self._new_id(), each) for each in kept)
        return Result(
            ticket,
            outcome,
            attempt_id,
            last_part=parts is None,
            parts=() if parts is None else (*parts, getattr(outcome, "remote_id", None)),
            fraction=self._rng.fraction(),
            exchanges=exchanges,
        )


def with_tokens(call: AttemptContext, tokens: Tokens) -> AttemptContext:
    """Go on with other tokens, which must not show in what is kept either."""
    call = replace(call, tokens=tokens)
    if call.http.notes is not None:
        call.http.notes.secrets += secrets_of(call)
    return call


async def call_prepare(
    call: AttemptContext, provider: Provider
) -> tuple[Prepared | StillPreparing | Outcome, Mapping[str, Any]]:
    """Prepare, going on at once while the adapter says that it got further; and tell how far it got."""
    found = await provider.prepare(call)
    while isinstance(found, StillPreparing) and not found.wait:
        call = replace(call, state=found.state)
        found = await provider.prepare(call)
    return found, found.state if isinstance(found, Prepared | StillPreparing) else call.state
