"""One delivery on its way out: load, render, prepare, permit, the one call, and what came of it.

Provider calls stand between transactions, never inside one. Whatever happens ends in one `Result`;
without a permit nothing was called, so an error of our own is a try that waits and ends like another. A token
is refreshed once when the network refuses it; a thread's parts each need a permit of their own, and each
one's remote id is saved before the next is sent.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from cadenza.accounts.refresh import Later, Lost, Ready
from cadenza.accounts.refresher import Refresher
from cadenza.accounts.seal import CannotOpen
from cadenza.core.channels import Channel
from cadenza.core.clock import Clock
from cadenza.core.ids import Random
from cadenza.deliveries.check_fit import check_fitted
from cadenza.deliveries.facts import select
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
from cadenza.providers.base import QUICKLY, AttemptContext, Prepared, Provider, Underway, use_of
from cadenza.providers.fit_picture import rules_of
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.exchange import Notebook, Step
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
from cadenza.sql.tx import Row

log = logging.getLogger("cadenza.deliveries")

SENDING = ("connected", "expiring")  # states of accounts
A_MINUTE = timedelta(minutes=1)
A_QUARTER = timedelta(minutes=15)
FINISHING = 5.0  # seconds for what is only nice to have
FRESH = GRACE.total_seconds()  # seconds within which a permit must be used


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


class Publisher:
    """The pipeline's runner: what the engine's worker calls for each claimed delivery."""

    def __init__(
        self,
        source: DeliverySource,
        operations: Operations,
        *,
        open_sender: Callable[[Row, Row], Sender],
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
        ticket = self._source.ticket(claimed.id)
        try:
            result = await self._publish(ticket)
        except SqlError as error:  # the store is away: what was not permitted goes back
            log.warning("store away, a delivery waits", extra={"error": str(error)})
            result = Stale()
        except Exception as error:
            if ticket.row.get("permitted"):
                raise  # the call may be out: rescue will doubt it
            log.exception("a delivery did not come to its call", extra={"delivery": ticket.id})
            result = self._own_fault(ticket, error)
        if result is None:
            self._source.forget(claimed.id)
        elif not isinstance(result, Stale):
            self._source.bring(claimed.id, result)
        return Settlement(claimed.id, claimed.lease, Verdict.DONE)

    def _own_fault(self, ticket: ClaimedDelivery, error: Exception) -> Result:
        """An error of ours before the call: put back untouched, it would be met again at once, for ever."""
        if isinstance(error, CannotOpen):  # nothing of the account can go without that key
            return self._result(ticket, TryLater(A_QUARTER, WaitScope.ACCOUNT, str(error)))
        says = f"our own side failed before the call: {type(error).__name__}"
        return self._result(ticket, Transient(says))

    def stopped(self, claimed: Claimed, reason: Stopped) -> Settlement:
        """A run that was cut short: before the permit it goes back; after it, rescue will doubt it."""
        return Settlement(claimed.id, claimed.lease, Verdict.RELEASED)

    async def find_out(self, unconfirmed: UnconfirmedAttempt) -> Lookup | Held:
        """Ask the network about an attempt that nobody answered; the reconciler's question."""
        ticket, attempt = unconfirmed.ticket, unconfirmed.attempt
        sender = await self._load(ticket)
        message = await self._rendered(ticket, sender)
        repeats = sender.provider.capabilities(message.channel).repeats
        others = await self._operations.read(lambda tx, _: known_posts(tx, unconfirmed))
        start = await self._permits.start_repeat(unconfirmed) if repeats else None
        asked = self._clock.monotonic()
        now = await self._may_look(unconfirmed, start, repeats=repeats)
        if isinstance(now, Held):
            return now
        if repeats and self._clock.monotonic() - asked > FRESH:
            return Held("the permit for it had grown old before the call")
        made = self._call(ticket, sender, message, DatabaseTime(now, asked))
        call, notes = self._noted(made, Step.FIND_OUT)
        call = replace(
            call,
            key=attempt["key"],
            part=attempt["part"],
            sent_parts=tuple(msgspec.json.decode(ticket.row["parts_sent"])),
            began_at=attempt["began_at"],
            others=others,
        )
        async with asyncio.timeout(QUICKLY.total_seconds() if repeats else None):
            finding = await sender.provider.find_out(call)
        # Under names of the attempt's own: it may be looked at for days, and the last look is kept.
        named = enumerate(notes.take())
        return Lookup(
            finding, tuple(RecordedExchange(f"{attempt['id']}-{n}", each) for n, each in named)
        )

    async def _may_look(
        self, unconfirmed: UnconfirmedAttempt, start: datetime | None, *, repeats: bool
    ) -> datetime | Held:
        """Read the database's clock; where looking may send, together with all that could hold it."""
        if not repeats:
            return await self._operations.read(lambda _, now: now)
        return await self._permits.ask_repeat(unconfirmed, start)

    async def _publish(self, ticket: ClaimedDelivery) -> Result | Stale | None:
        """Return what is to be settled; None: the permit has; `Stale`: it goes back if it is ours."""
        claimed = DatabaseTime(ticket.row["claimed_at"], self._clock.monotonic())
        sender = await self._load(ticket)
        account, epoch = ticket.row["account"], ticket.row["epoch"]
        if account["state"] not in SENDING:
            return self._result(ticket, Disconnected(account["state_reason"] or account["state"]))
        message, problems = await self._render(ticket, sender)
        if message is None:
            return await self._refused_content(ticket, epoch, problems)
        call = self._call(ticket, sender, message, claimed)
        return await self._send_parts(ticket, sender, call, epoch, problems)

    async def _send_parts(
        self,
        ticket: ClaimedDelivery,
        sender: Sender,
        call: AttemptContext,
        epoch: int,
        problems: tuple[str, ...],
    ) -> Result | Stale | None:
        """Send each part that is not out yet: prepared for itself, under a permit of its own."""
        last = len(call.message.parts)
        takes = sender.provider.capabilities(call.message.channel).takes(call.message)
        begun_at = len(msgspec.json.decode(ticket.row["parts_sent"]))
        call, notes = self._noted(call, Step.PREPARE)
        for part in itertools.count(begun_at):
            sent_parts: list[str] = msgspec.json.decode(ticket.row["parts_sent"])
            call = replace(call, part=part, sent_parts=tuple(sent_parts))
            notes.step = Step.PREPARE
            prepared = await self._prepare(call, ticket)
            if not isinstance(prepared, Prepared):
                return self._result(ticket, prepared, notes=notes)
            call = self._with_newest_tokens(call, ticket)
            request = PermitRequest(
                ticket, self._new_id(), epoch, part, problems, first=part == begun_at, takes=takes
            )
            request = await self._permits.take_start(request)
            asked = self._clock.monotonic()
            answer = await self._permits.ask(request)
            if not isinstance(answer, Permitted):
                return answer if isinstance(answer, Stale) else None
            ticket.row["permitted"] = True
            notes.step = Step.PUBLISH
            call = replace(
                call,
                key=answer.key,
                state=prepared.state,
                began_at=answer.began_at,
                now=DatabaseTime(answer.began_at, asked).now(self._clock),
            )
            outcome = await self._ending.run(
                self._irreversibly(sender.provider, call, ticket, takes.total_seconds(), asked),
                partial(self._keep, ticket, answer.attempt_id, notes=notes, more=part < last),
            )
            call = self._with_newest_tokens(call, ticket)
            if isinstance(outcome, Sent) and outcome.remote_id is None and part < last:
                outcome = Unconfirmed("this part is out, but its id is needed for the next")
            if not isinstance(outcome, Sent) or part >= last:
                if isinstance(outcome, Sent):
                    notes.step = Step.FINISH
                    outcome = await self._finish(sender.provider, call, outcome)
                return self._result(ticket, outcome, answer.attempt_id, notes=notes)
            between = self._result(ticket, outcome, answer.attempt_id, notes=notes, last_part=False)
            try:
                won = await self._settle_between(between)
            except SqlError:  # the settler tries until it is written; rescue then goes on
                return between
            if not won:
                return None
            del ticket.row["permitted"]
        return None

    async def _keep(
        self,
        ticket: ClaimedDelivery,
        attempt_id: str,
        outcome: Outcome,
        *,
        notes: Notebook,
        more: bool,
    ) -> None:
        """Write what a call came to after its run was cut short; whoever holds the delivery by now."""
        result = self._result(ticket, outcome, attempt_id, notes=notes, last_part=not more)
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
        ticket: ClaimedDelivery,
        takes: float,
        asked: float,
    ) -> Outcome:
        """Make the call; once more with renewed tokens if these were refused and the permit lasts."""
        began = self._clock.monotonic()
        if began - asked > FRESH:
            # A call that began now could outlast the deadline, and others go by that. Asked here, with
            # nothing to wait for before the call: a process may sleep wherever it waits for its turn.
            return NotReady(timedelta(), "its permit had grown old before the call")
        outcome = await self._call_within(takes, provider, call)
        if not isinstance(outcome, Disconnected):
            return outcome
        renewed = await self._renew(ticket, outcome)
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

    async def _prepare(self, call: AttemptContext, ticket: ClaimedDelivery) -> Prepared | Outcome:
        """Do what may be repeated, and save what it made over there before going on, or where it failed."""
        try:
            found, state = await call_prepare(call, self._open_sender_of(ticket).provider)
            if isinstance(found, Disconnected):
                found = await self._renew(ticket, found)
            if isinstance(found, Tokens):
                again = replace(with_tokens(call, found), state=state)
                found, state = await call_prepare(again, self._open_sender_of(ticket).provider)
        except Exception as error:  # noqa: BLE001 - nothing irreversible has happened
            return Transient(f"preparing failed: {type(error).__name__}: {error}")
        text = msgspec.json.encode(dict(state)).decode()
        if text != (ticket.row["prepared"] or "{}"):
            await self._operations.run(lambda tx, _: save_prepared(tx, ticket, text))
        if isinstance(found, Underway):
            return NotReady(max(found.wait, timedelta(seconds=1)), found.says)
        return found

    async def _renew(self, ticket: ClaimedDelivery, refused: Disconnected) -> Tokens | Outcome:
        """Bring other tokens for refused ones, once a run; trouble in doing so disconnects nobody."""
        if self._refresher is None or ticket.row.get("renewed"):
            return refused
        ticket.row["renewed"] = True
        try:
            answer = await self._refresher.force(ticket.row["account"])
        except SqlError:
            return TryLater(
                A_MINUTE, WaitScope.ACCOUNT, "the store was away while renewing the token"
            )
        except Exception as error:  # noqa: BLE001 - nothing of it may reach a log but its kind
            says = f"our own side failed while renewing the token: {type(error).__name__}"
            return TryLater(A_MINUTE, WaitScope.ACCOUNT, says)
        match answer:
            case Ready(account):
                ticket.row["account"] = account
                return self._open_sender_of(ticket).tokens
            case Lost(says):
                return Disconnected(says)
            case Later(says, wait):
                return TryLater(wait, WaitScope.ACCOUNT, says)

    def _with_newest_tokens(self, call: AttemptContext, ticket: ClaimedDelivery) -> AttemptContext:
        if "renewed" not in ticket.row:
            return call
        return with_tokens(call, self._open_sender_of(ticket).tokens)

    async def _finish(self, provider: Provider, call: AttemptContext, sent: Sent) -> Sent:
        """Bring the address and the like; never at the price of the delivery."""
        try:
            async with asyncio.timeout(FINISHING):
                return await provider.finish(call, sent)
        except Exception:  # noqa: BLE001 - it is out; the rest is only nice to have
            return sent

    async def _load(self, ticket: ClaimedDelivery) -> Sender:
        """Open the account that the claim brought along; an unconfirmed send's account is read here."""
        if "account" not in ticket.row:
            key = (ticket.workspace_id, ticket.row["account_id"])
            found = await self._operations.read(lambda tx, _: select(tx, "account", [key]))
            ticket.row["account"] = found[key]
        ticket.row["account"] = await self._freshen(ticket.row["account"])
        return self._open_sender_of(ticket)

    async def _freshen(self, account: Row) -> Row:
        """Renew tokens that run out; while that does not work, those at hand are tried."""
        if self._refresher is None or account["state"] not in SENDING:
            return account
        match await self._refresher.ready(account):
            case Ready(fresh):
                return fresh
            case Lost(says):
                return {**account, "state": "needs_reconnect", "state_reason": says}
            case Later():
                return account

    def _open_sender_of(self, ticket: ClaimedDelivery) -> Sender:
        return self._open_sender(ticket.row["account"], ticket.row)

    async def _rendered(self, ticket: ClaimedDelivery, sender: Sender) -> Message:
        """Render what goes out, its pictures changed to what the channel takes."""
        channel = Channel(ticket.row["channel"])
        rules = rules_of(sender.provider.name, channel, sender.account)
        return await render_fitted(ticket.row, self._files, rules)

    async def _render(
        self, ticket: ClaimedDelivery, sender: Sender
    ) -> tuple[Message | None, tuple[str, ...]]:
        fit = await check_fitted(sender.provider, sender.account, ticket.row, self._files)
        return fit.message, tuple(problem.says for problem in fit.blocking)

    async def _refused_content(
        self, ticket: ClaimedDelivery, epoch: int, problems: tuple[str, ...]
    ) -> Stale | None:
        """Let the permit say it, in its order: another gate may come first, or an edit."""
        answer = await self._permits.ask(PermitRequest(ticket, self._new_id(), epoch, 0, problems))
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
            state=msgspec.json.decode(ticket.row["prepared"] or "{}"),
        )

    def _noted(self, call: AttemptContext, step: Step) -> tuple[AttemptContext, Notebook]:
        """Let the run keep what it says to the network."""
        notes = Notebook(secrets_of(call))
        notes.step = step
        return replace(call, http=call.http.heard_by(notes)), notes

    def _result(
        self,
        ticket: ClaimedDelivery,
        outcome: Outcome,
        attempt_id: str | None = None,
        *,
        notes: Notebook | None = None,
        last_part: bool = True,
    ) -> Result:
        kept = worth_keeping(outcome, attempt_id, notes.take() if notes else ())
        heard = tuple(RecordedExchange(self._new_id(), each) for each in kept)
        return Result(ticket, outcome, attempt_id, last_part, self._rng.fraction(), heard)


def with_tokens(call: AttemptContext, tokens: Tokens) -> AttemptContext:
    """Go on with other tokens, which must not show in what is kept either."""
    call = replace(call, tokens=tokens)
    if call.http.notes is not None:
        call.http.notes.secrets += secrets_of(call)
    return call


async def call_prepare(
    call: AttemptContext, provider: Provider
) -> tuple[Prepared | Underway | Outcome, Mapping[str, Any]]:
    """Prepare, going on at once while the adapter says that it got further; and tell how far it got."""
    found = await provider.prepare(call)
    while isinstance(found, Underway) and not found.wait:
        call = replace(call, state=found.state)
        found = await provider.prepare(call)
    return found, found.state if isinstance(found, Prepared | Underway) else call.state
