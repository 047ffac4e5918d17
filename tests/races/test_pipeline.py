"""Pause, cancel and edit against the claim and the permit: one comes wholly first, and both know which.

Two houses with connections of their own on one database. On PostgreSQL the first to act is held in the
middle of its transaction until the second is seen waiting for it (or has stepped aside); on SQLite it
keeps the file's one write lock until the second has come to it.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from cadenza.contacts.unsubscribe import Subscriber, unsubscribe
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.open import open_product
from cadenza.deliveries import claim as claiming
from cadenza.deliveries import lanes
from cadenza.deliveries.change import (
    TRIED_SINCE,
    ChangedDelivery,
    NotNow,
    cancel,
    decide_unconfirmed,
    publish_now,
)
from cadenza.deliveries.claim import claim, release
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, ClaimedDelivery, NewDelivery, locks_of
from cadenza.deliveries.permit import Answer, PermitRequest, Permitted, Refusal, Stale, permit
from cadenza.deliveries.reconcile import UnconfirmedAttempt, resolve, unconfirmed_attempts
from cadenza.deliveries.schedule import schedule
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Absent, Sent, Unconfirmed
from cadenza.sql.transactions import Operation, Operations
from cadenza.sql.tx import Row, Tx

HOME = "home"
LANE = "account:ada"
LEASE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two houses on one database; `hold` keeps a transaction of the first open for a while."""

    worker: Operations
    person: Operations
    dsn: str | None

    async def row(self, table: str, id_: str) -> Row:
        row = await self.person.read(
            lambda tx, _: tx.one(f"SELECT * FROM {table} WHERE id = :id", id=id_)
        )
        assert row is not None
        return row


@pytest.fixture(params=["sqlite", "postgres"])
async def pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair]:
    dsn = request.getfixturevalue("postgres_database") if request.param == "postgres" else None
    address = dsn or f"sqlite:///{tmp_path}/road.sqlite3"
    async with (
        open_product(address, clock=SystemClock()) as worker,
        open_product(address, clock=SystemClock()) as person,
    ):
        await person.run(_settle_in)
        yield Pair(worker, person, dsn)


def _settle_in(tx: Tx, now: datetime) -> None:
    tx.run(
        "INSERT INTO workspace (id, name, zone, created_at) VALUES (:home, 'h', 'UTC', :now)",
        home=HOME,
        now=now,
    )
    tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
        VALUES (:home, 'ada', 'simulated', 'ada', 'UTC', :now)
        """,
        home=HOME,
        now=now,
    )
    init_account(tx, now, workspace_id=HOME, account_id="ada", in_flight_limit=9)
    _add(tx, now, "d1")


def _add(tx: Tx, now: datetime, id_: str) -> None:
    new = NewDelivery(
        id=id_,
        workspace_id=HOME,
        account_id="ada",
        channel=Channel.WEBHOOK,
        action=Action.POST,
        due_at=now,
        content='{"text":"hello"}',
    )
    schedule(tx, now, [new])


def _claim(tx: Tx, now: datetime) -> list[ClaimedDelivery]:
    return claim(tx, now, limit=9, worker="w", lease=LEASE)


def _pause(tx: Tx, _now: datetime) -> bool:
    return lanes.pause(tx, workspace_id=HOME, scope=LANE, reason="stop")


def _cancel(tx: Tx, now: datetime) -> object:
    return cancel(tx, now, workspace_id=HOME, id="d1", reason="not wanted")


def _edit(tx: Tx, _now: datetime) -> int:
    """Give it new words, as an edit of its post does: only what has no permit yet."""
    return tx.run(
        """
        UPDATE delivery SET content = '{"text":"new"}', revision = revision + 1
        WHERE workspace_id = :home AND id = 'd1' AND state = 'scheduled'
        """,
        home=HOME,
    )


def _permit(ticket: ClaimedDelivery) -> Operation[Answer]:
    request = PermitRequest(ticket, "a1")
    return lambda tx, now: permit(tx, now, [request])[0]


async def in_turn(
    pair: Pair,
    first: tuple[Operations, Operation[object]],
    second: tuple[Operations, Operation[object]],
    *,
    locks: Callable[[], list[str]] = list,
) -> tuple[object, object]:
    """Let `first` do all but commit, then let `second` come, then let both end."""
    if pair.dsn is None:
        return await _on_one_file(first, second)
    # A third party's lock stops the first right before its commit.
    gate = await asyncpg.connect(pair.dsn)
    try:
        async with gate.transaction():
            await gate.execute("SELECT pg_advisory_xact_lock(4711)")

            def held(tx: Tx, now: datetime) -> object:
                result = first[1](tx, now)
                tx.all("SELECT count(pg_advisory_xact_lock(4711)) AS held")
                return result

            one = asyncio.ensure_future(first[0].run(held, locks=locks()))
            await _waiting(gate, 1)
            two = asyncio.ensure_future(second[0].run(second[1], locks=locks()))
            await _waiting(gate, 2, unless=two)
        return await one, await two
    finally:
        await gate.close()


async def _on_one_file(
    first: tuple[Operations, Operation[object]], second: tuple[Operations, Operation[object]]
) -> tuple[object, object]:
    """The first keeps the file's one write lock until the second has come to it."""
    inside, come = threading.Event(), threading.Event()

    def held(tx: Tx, now: datetime) -> object:
        result = first[1](tx, now)
        inside.set()
        come.wait(60)
        return result

    one = asyncio.ensure_future(first[0].run(held))
    await asyncio.to_thread(inside.wait, 60)
    two = asyncio.ensure_future(second[0].run(second[1]))
    await asyncio.sleep(0.05)
    assert not two.done(), "the second did not wait"
    come.set()
    return await one, await two


async def _waiting(
    watch: asyncpg.Connection, count: int, unless: "asyncio.Future[object] | None" = None
) -> None:
    """Wait until so many transactions of this database wait for a lock, or `unless` is over."""
    async with asyncio.timeout(60):
        while unless is None or not unless.done():
            waiting: Any = await watch.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if waiting >= count:
                return
            await asyncio.sleep(0.01)


async def claimed(pair: Pair) -> ClaimedDelivery:
    (ticket,) = await pair.worker.run(_claim)
    return ticket


async def test_a_pause_before_the_claim_wins(pair: Pair) -> None:
    _, tickets = await in_turn(pair, (pair.person, _pause), (pair.worker, _claim))
    assert tickets == []
    assert await pair.worker.run(_claim) == []


async def test_a_claim_before_the_pause_is_stopped_at_its_permit(pair: Pair) -> None:
    tickets, paused = await in_turn(pair, (pair.worker, _claim), (pair.person, _pause))
    assert paused is True
    assert isinstance(tickets, list)
    answer = await pair.worker.run(_permit(tickets[0]))
    assert isinstance(answer, Refusal)
    assert answer.gate == "lane"


async def test_a_pause_before_the_permit_wins(pair: Pair) -> None:
    ticket = await claimed(pair)
    _, answer = await in_turn(pair, (pair.person, _pause), (pair.worker, _permit(ticket)))
    assert isinstance(answer, Refusal)
    assert (await pair.row("delivery", "d1"))["state"] == "scheduled"


async def test_a_pause_is_not_acknowledged_before_a_permit_that_came_first(pair: Pair) -> None:
    ticket = await claimed(pair)
    answer, paused = await in_turn(pair, (pair.worker, _permit(ticket)), (pair.person, _pause))
    assert isinstance(answer, Permitted)
    assert paused is True
    assert (await pair.row("delivery", "d1"))["state"] == "sending"


async def test_an_unsubscribe_before_the_permit_wins(pair: Pair) -> None:
    ticket = await claimed_for_ben(pair)
    _, answer = await in_turn(pair, (pair.person, _unsubscribe), (pair.worker, _permit(ticket)))
    assert isinstance(answer, Refusal)
    assert answer.gate == "suppression"
    assert (await pair.row("delivery", "d1"))["state"] == "skipped"


async def test_an_unsubscribe_is_not_acknowledged_before_a_permit_that_came_first(
    pair: Pair,
) -> None:
    ticket = await claimed_for_ben(pair)
    answer, new = await in_turn(pair, (pair.worker, _permit(ticket)), (pair.person, _unsubscribe))
    assert isinstance(answer, Permitted)
    assert new is True
    assert (await pair.row("delivery", "d1"))["state"] == "sending"


async def claimed_for_ben(pair: Pair) -> ClaimedDelivery:
    await pair.person.run(
        lambda tx, _: tx.run("UPDATE delivery SET recipient = '@benb', channel = 'telegram'")
    )
    return await claimed(pair)


def _unsubscribe(tx: Tx, now: datetime) -> bool:
    return unsubscribe(tx, now, Subscriber(HOME, "telegram", "@benb"))


async def test_a_cancel_before_the_claim_wins(pair: Pair) -> None:
    answer, tickets = await in_turn(pair, (pair.person, _cancel), (pair.worker, _claim))
    assert answer == ChangedDelivery(State.CANCELED)
    assert tickets == []
    assert (await pair.row("lane", LANE))["in_flight"] == 0


async def test_a_claim_before_the_cancel_wins_and_the_person_is_told(pair: Pair) -> None:
    tickets, answer = await in_turn(pair, (pair.worker, _claim), (pair.person, _cancel))
    assert isinstance(tickets, list)
    assert len(tickets) == 1
    assert isinstance(answer, NotNow)
    assert isinstance(await pair.worker.run(_permit(tickets[0])), Permitted)


async def test_an_edit_before_the_permit_wins_and_nothing_old_is_sent(pair: Pair) -> None:
    ticket = await claimed(pair)
    changed, answer = await in_turn(pair, (pair.person, _edit), (pair.worker, _permit(ticket)))
    assert changed == 1
    assert answer == Stale()
    row = await pair.row("delivery", "d1")
    assert (row["state"], row["attempts"], row["content"]) == ("scheduled", 0, '{"text":"new"}')


async def test_a_permit_before_the_edit_freezes_what_it_sends(pair: Pair) -> None:
    ticket = await claimed(pair)
    answer, changed = await in_turn(pair, (pair.worker, _permit(ticket)), (pair.person, _edit))
    assert isinstance(answer, Permitted)
    assert changed == 0
    assert (await pair.row("delivery", "d1"))["content"] == '{"text":"hello"}'


async def test_an_edit_before_the_claim_is_what_the_claim_sees(pair: Pair) -> None:
    await in_turn(pair, (pair.person, _edit), (pair.worker, _claim))
    tickets = await pair.worker.run(_claim)  # a claim that stepped aside comes again
    row = await pair.row("delivery", "d1")
    if tickets:
        assert tickets[0].delivery.revision == row["revision"]
    assert row["revision"] == 2


@pytest.mark.parametrize("ending", ["settle", "release"])
async def test_what_is_scheduled_while_a_lane_is_left_is_not_forgotten(
    pair: Pair, ending: str
) -> None:
    """The lane's next look is counted from what both have written, not from a view of before."""
    ticket = await claimed(pair)
    answer = await pair.worker.run(_permit(ticket)) if ending == "settle" else None

    def leave(tx: Tx, now: datetime) -> object:
        if isinstance(answer, Permitted):
            return settle(tx, now, [Result(ticket, Sent("r"), answer.attempt_id)])
        return release(tx, now, [ticket])

    def plan(tx: Tx, now: datetime) -> None:
        _add(tx, now, "d2")

    await in_turn(pair, (pair.person, plan), (pair.worker, leave))
    found = {t.id for _ in range(2) for t in await pair.worker.run(_claim)}
    assert "d2" in found


def _swap(tx: Tx, now: datetime) -> None:
    """Let d2 have d1's turn and d1 that of d2, as a reorder of a queue does."""
    for id_, ago in (("d1", 1), ("d2", 2)):
        due = now - timedelta(minutes=ago)
        tx.run("UPDATE delivery SET due_at = :due WHERE id = :id", due=due, id=id_)
    lanes.refresh(tx, [(HOME, LANE)])


def _send_now(tx: Tx, now: datetime) -> object:
    return publish_now(tx, now, workspace_id=HOME, id="d2")


@pytest.mark.parametrize("turn", [_swap, _send_now])
async def test_a_claim_that_has_not_reached_the_lane_yet_sees_who_was_put_first_meanwhile(
    pair: Pair, turn: Operation[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if pair.dsn is None:
        pytest.skip("one writer at a time: nobody comes between")
    await pair.person.run(lambda tx, now: _add(tx, now, "d2"))
    # The claim waits where it has its view of all rows and has not locked the lane.
    gate = "pg_advisory_xact_lock_shared(4712)::text IS NOT NULL AND NOT lane.paused"
    waits = claiming._HEADS_LOCKED.replace("NOT lane.paused", gate, 1)
    monkeypatch.setattr(claiming, "_HEADS_LOCKED", waits)
    keeper = await asyncpg.connect(pair.dsn)
    try:
        async with keeper.transaction():
            await keeper.execute("SELECT pg_advisory_xact_lock(4712)")
            claims = asyncio.ensure_future(pair.worker.run(_claim))
            await _waiting(keeper, 1)
            await pair.person.run(turn)
        tickets = await claims or await pair.worker.run(_claim)  # who stepped aside comes again
        assert [ticket.id for ticket in tickets] == ["d2", "d1"]
    finally:
        await keeper.close()


async def test_a_cancel_and_a_claim_of_one_lane_never_wait_in_a_ring(pair: Pair) -> None:
    for n in range(2, 42):
        await pair.person.run(lambda tx, now, n=n: _add(tx, now, f"d{n}"))

    async def work() -> list[str]:
        found: list[str] = []
        for _ in range(25):
            tickets = await pair.worker.run(_claim)
            found += [ticket.id for ticket in tickets]
            await pair.worker.run(lambda tx, now, t=tickets: release(tx, now, t))
        return found

    async def cancel_all() -> None:
        for n in range(1, 42):
            await pair.person.run(
                lambda tx, now, n=n: cancel(tx, now, workspace_id=HOME, id=f"d{n}", reason="")
            )

    async with asyncio.timeout(120):
        await asyncio.gather(work(), cancel_all())
    lane = await pair.row("lane", LANE)
    assert lane["in_flight"] == 0


async def unconfirmed_send(pair: Pair) -> UnconfirmedAttempt:
    """Return an unconfirmed send that may be looked into, as the reconciler and a person see it."""
    ticket = await claimed(pair)
    answer = await pair.worker.run(_permit(ticket))
    assert isinstance(answer, Permitted)
    unsure = Result(ticket, Unconfirmed("no answer"), answer.attempt_id)
    await pair.worker.run(lambda tx, now: settle(tx, now, [unsure]))
    await pair.worker.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2))
    )
    (unconfirmed,) = await pair.worker.read(unconfirmed_attempts)
    return unconfirmed


def _decide(unconfirmed: UnconfirmedAttempt, *, is_there: bool) -> Operation[object]:
    return lambda tx, now: decide_unconfirmed(
        tx, now, workspace_id=HOME, id="d1", fence=unconfirmed.ticket.lease, is_there=is_there
    )


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_decision_on_a_try_that_was_followed_by_another_is_refused(
    pair: Pair, *, is_there: bool
) -> None:
    unconfirmed = await unconfirmed_send(pair)

    def try_again(tx: Tx, now: datetime) -> None:
        """Find it absent, send it again, and hear nothing again."""
        resolve(tx, now, unconfirmed, Absent())
        (ticket,) = _claim(tx, now)
        permit(tx, now, [PermitRequest(ticket, "a2")])
        settle(tx, now, [Result(ticket, Unconfirmed("no answer"), "a2")])

    _, answer = await in_turn(
        pair,
        (pair.worker, try_again),
        (pair.person, _decide(unconfirmed, is_there=is_there)),
        locks=lambda: locks_of([unconfirmed.ticket.delivery]),
    )
    assert answer == NotNow(State.UNCONFIRMED, TRIED_SINCE)
    row = await pair.row("delivery", "d1")
    assert (row["state"], row["attempts"]) == ("unconfirmed", 2)


async def test_a_decision_that_came_first_is_not_overruled_by_what_was_found(pair: Pair) -> None:
    unconfirmed = await unconfirmed_send(pair)
    answer, _ = await in_turn(
        pair,
        (pair.person, _decide(unconfirmed, is_there=True)),
        (pair.worker, lambda tx, now: resolve(tx, now, unconfirmed, Absent())),
        locks=lambda: locks_of([unconfirmed.ticket.delivery]),
    )
    assert answer == ChangedDelivery(State.SENT)
    assert (await pair.row("delivery", "d1"))["state"] == "sent"
    assert await pair.worker.run(_claim) == []
