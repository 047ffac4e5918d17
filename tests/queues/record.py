"""Asks the product what the model knows, and writes down who asked what, when, and what was answered.

Whoever asks may have no patience: then the request is cancelled on its way, and nobody knows what became of
it. The product names deliveries, the model posts: answers are translated once all is over.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.deliveries import claim, permit, settle
from cadenza.deliveries.model import ClaimedDelivery, ComposedPost
from cadenza.providers.outcome import Sent
from cadenza.queues import reorder
from cadenza.queues.add import Added, AlreadyQueued, Queued, To, add_pieces
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.model import locks
from cadenza.queues.show import Kind, View, show
from cadenza.queues.undo import TooLate, Undone, undo
from tests.queues import model
from tests.queues.conftest import HOME, LEASE, MONDAY, Desk
from tests.queues.linear import Done

KINDS = {Kind.FILLED: "waits", Kind.SENDING: "sending", Kind.SENT: "sent"}
TIMES = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(0, 60, model.PITCH)]


@dataclass(slots=True)
class Recorder:
    """One account's queue, and all that was asked of it."""

    desk: Desk
    account: str
    events: list[Done] = field(default_factory=list[Done])
    tickets: dict[str, ClaimedDelivery] = field(default_factory=dict[str, ClaimedDelivery])
    clears: dict[str, str] = field(default_factory=dict[str, str])
    now: int = 0  # minutes; whoever asks takes it along

    async def open(self) -> None:
        """Connect the account; let so many of its posts be in workers' hands."""
        await self.desk.connect(self.account)
        await self.desk.week(self.account, slots={str(day): TIMES for day in range(7)})
        await self._set("in_flight_limit", model.IN_FLIGHT)
        await self._set("width", model.IN_FLIGHT)

    async def close(self) -> None:
        """Let nothing of it be claimed any more."""
        await self._set("paused", True)

    async def _set(self, column: str, value: object) -> None:
        sql = f"UPDATE lane SET {column} = :value WHERE account_id = :account"
        await self.desk.operations.run(lambda tx, _: tx.run(sql, value=value, account=self.account))

    async def ask(
        self, who: str, operation: model.Operation, *, patience: float | None = None
    ) -> Any:
        """Ask, and note it; None: there was no answer, or it was nothing."""
        called = time.perf_counter()
        try:
            async with asyncio.timeout(patience):
                answer = await self._do(operation)
        except TimeoutError:
            self.events.append(Done(who, operation, called))
            return None
        self.events.append(Done(who, operation, called, time.perf_counter(), answer))
        self._keep(operation, answer)
        return answer

    async def _do(self, operation: model.Operation) -> Any:
        match operation:
            case model.Add(post, to, now):
                content = msgspec.json.encode({"text": post}).decode()
                piece = ComposedPost(
                    post_id=post,
                    account_id=self.account,
                    channel=Channel.MASTODON,
                    content=content,
                    approved=True,
                )
                return await self._run(add_pieces, now, pieces=[piece], to=To(to))
            case model.Reorder(posts, revision):
                return await self.reorder(posts, revision)
            case model.ToTop(post):
                return await self._run(reorder.to_top, 0, id=post, account_id=self.account)
            case model.Swap(posts):
                return await self._run(reorder.swap, 0, ids=posts, account_id=self.account)
            case model.Clear(_, now):
                return await self.clear(now)
            case model.Undo(name, now):
                return await self._run(undo, now, clear_id=self.clears[name])
            case model.Look():
                return await self.desk.operations.read(
                    lambda tx, _: show(
                        tx, MONDAY, workspace_id=HOME, account_id=self.account, words=False, days=2
                    )
                )
            case model.Claim(name, now):
                at = instant(now)
                return await self.desk.operations.run(
                    lambda tx, _: claim.claim(tx, at, limit=1, worker=name, lease=LEASE)
                )
            case model.Permit() | model.Release() | model.Settle():
                return await self._go_on(operation, self.tickets[operation.claim])

    async def reorder(self, posts: tuple[str, ...], revision: int) -> Any:
        return await self._run(
            reorder.reorder, 0, ids=posts, revision=revision, account_id=self.account
        )

    async def clear(self, now: int) -> Any:
        return await self._run(clear, now, account_id=self.account)

    async def _run(self, verb: Callable[..., Any], now: int, **words: Any) -> Any:
        """Run a change of the queue as the API does."""
        at = instant(now)
        return await self.desk.operations.run(
            lambda tx, _: verb(tx, at, workspace_id=HOME, by="member:ada", **words),
            locks=locks(HOME, self.account),
        )

    async def _go_on(
        self, operation: model.Permit | model.Release | model.Settle, ticket: ClaimedDelivery
    ) -> Any:
        """Do the worker's next step as the source does it."""
        at, run = instant(self.now), self.desk.operations.run
        attempt = f"{self.account}-{operation.claim}"
        match operation:
            case model.Permit():
                request = permit.PermitRequest(ticket, attempt)
                wanted = permit.locks_of([request])
                return (await run(lambda tx, _: permit.permit(tx, at, [request]), locks=wanted))[0]
            case model.Release():
                return await run(lambda tx, _: claim.release(tx, at, [ticket]))
            case model.Settle():
                result = settle.Result(ticket, Sent("remote"), attempt)
                wanted = settle.locks_of([result])
                return (await run(lambda tx, _: settle.settle(tx, at, [result]), locks=wanted))[0]

    def _keep(self, operation: model.Operation, answer: Any) -> None:
        match operation, answer:
            case model.Claim(name), [ticket]:
                self.tickets[name] = ticket
            case model.Clear(name), Cleared(clear_id=str(clear_id)):
                self.clears[name] = clear_id
            case _:
                pass

    async def history(self) -> list[Done]:
        """Return all that was asked, in the model's words."""
        rows = await self.desk.rows("SELECT id, post_id FROM delivery")
        post_of = {row["id"]: row["post_id"] for row in rows}
        events = [replace(each, answer=translate(each.answer, post_of)) for each in self.events]
        if await self.desk.operations.read(lambda tx, _: tx.dialect) == "postgresql":
            events = [_may_pass(each, events) for each in events]
        return events


def _may_pass(event: Done, events: list[Done]) -> Done:
    """Let a claim pass over a queue that another held meanwhile."""
    if not isinstance(event.operation, model.Claim):
        return event
    others = (each for each in events if each is not event)
    met = any(o.called < event.answered and event.called < o.answered for o in others)
    return replace(event, operation=replace(event.operation, passes=met))


def instant(minute: int) -> datetime:
    return MONDAY + timedelta(minutes=minute)


def minute_of(at: datetime) -> int:
    return int((at - MONDAY).total_seconds()) // 60


def translate(answer: Any, post_of: Mapping[str, str]) -> Any:
    """Say a product's answer in the model's words; what the model does not know stays as it is."""
    match answer:
        case Added(answers=(Queued() as queued,)):
            return "queued", minute_of(queued.at), _moves(queued.moved), queued.revision
        case Added(answers=(AlreadyQueued(at=at),)):
            return "already", minute_of(at)
        case reorder.Reordered(moved, stays, revision):
            return "ordered", _moves(moved), tuple(each.id for each in stays), revision
        case reorder.Stale(revision, order):
            return "stale", revision, tuple(entry.post_id for entry in order)
        case Cleared():
            gone = tuple(sorted(post_of[id_] for id_ in answer.canceled))
            return "cleared", gone, tuple(post_of[id_] for id_ in answer.on_their_way)
        case Undone(restored, lost):
            back = tuple(sorted(post_of[id_] for id_ in restored))
            return "undone", back, tuple(sorted(post_of[id_] for id_, _ in lost))
        case TooLate():
            return "too late"
        case View():
            return screen(answer)
        case [] | [ClaimedDelivery()]:
            return next(
                (msgspec.json.decode(each.delivery.content)["text"] for each in answer), None
            )
        case permit.Permitted():
            return "go"
        case permit.Stale():
            return "stale"
        case _:
            return answer


def _moves(moved: tuple[Any, ...]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((each.post_id, minute_of(each.now_at)) for each in moved))


def screen(view: View) -> tuple[int, tuple[tuple[str, int, str], ...]]:
    """Read off a screen who stands where."""
    lines = (line for day in view.days for line in day.lines if line.post_id is not None)
    shown = ((str(each.post_id), minute_of(each.at), KINDS[each.kind]) for each in lines)
    return view.revision, tuple(shown)
