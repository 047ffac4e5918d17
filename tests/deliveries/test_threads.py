"""A thread's parts: one try of the delivery, each part with evidence of its own."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from cadenza.accounts.disconnect import disconnect
from cadenza.core.clock import SystemClock
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import change, lanes
from cadenza.deliveries.change import ChangedDelivery, NeedsRemoteId
from cadenza.deliveries.installation import beat, confirm, hold
from cadenza.deliveries.lift_suspension import lift_suspension
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import PermitRequest, Permitted, Refusal, locks_of, permit
from cadenza.deliveries.permit_repeat import permit_repeat
from cadenza.deliveries.reconcile import (
    Held,
    Lookup,
    Reconciler,
    UnconfirmedAttempt,
    resolve,
    unconfirmed_attempts,
)
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.suspend_account import suspend_account
from cadenza.providers.outcome import CannotTell, Found, NotReady, Sent, Transient, Unconfirmed
from cadenza.sql.transactions import Operation
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_evidence import lose

THREAD = '{"text":"one","parts":["two","three","four"]}'


async def send_part(pipeline: Pipeline, ticket: ClaimedDelivery, part: int, *, first: bool) -> str:
    request = PermitRequest(ticket, f"{ticket.id}-{ticket.lease}-{part}", part, first=first)
    (answer,) = await pipeline.operations.run(
        lambda tx, now: permit(tx, now, [request]), locks=locks_of([request])
    )
    assert isinstance(answer, Permitted)
    out = tuple(f"remote-{n}" for n in range(part + 1))
    between = Result(ticket, Sent(out[part]), answer.attempt_id, last_part=False, parts=out)
    assert await pipeline.operations.run(lambda tx, now: settle(tx, now, [between])) == [True]
    return answer.attempt_id


async def uncertain_in_the_middle(pipeline: Pipeline) -> str:
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    request = PermitRequest(ticket, "doubt", 1, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Unconfirmed("no answer"), answer.attempt_id)
    return id_


async def unconfirmed_send(pipeline: Pipeline) -> list[UnconfirmedAttempt]:
    """List the unconfirmed sends once nothing of their calls can arrive any more."""
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2))
    )
    return await pipeline.operations.read(unconfirmed_attempts)


async def decide(pipeline: Pipeline, id_: str, **choice: Any) -> object:
    fence = (await pipeline.row("delivery", id_))["lease"]
    return await pipeline.operations.run(
        lambda tx, now: change.decide_unconfirmed(
            tx, now, workspace_id=HOME, id=id_, fence=fence, **choice
        )
    )


async def test_a_try_counts_once_whatever_the_number_of_its_parts(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(content=THREAD, retry_limit=1)
    (ticket,) = await pipeline.claim()
    for part in range(3):
        await send_part(pipeline, ticket, part, first=part == 0)
    request = PermitRequest(ticket, "last", 3, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Transient("no route"), answer.attempt_id)

    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["attempts"]) == ("scheduled", 1)
    assert {attempt["number"] for attempt in await pipeline.rows("attempt")} == {1}


async def test_a_part_that_has_to_wait_for_a_budget_uses_up_no_try(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    request = PermitRequest(ticket, "second", 1, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))

    assert isinstance(answer, Refusal)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["attempts"]) == ("scheduled", 0)


async def test_a_part_that_a_person_found_lets_the_rest_follow(pipeline: Pipeline) -> None:
    id_ = await uncertain_in_the_middle(pipeline)
    answer = await decide(pipeline, id_, is_there=True, remote_id="remote-1")

    assert answer == ChangedDelivery(State.SCHEDULED, "parts 3 to 4 follow")
    row = await pipeline.row("delivery", id_)
    assert msgspec.json.decode(row["parts_sent"]) == ["remote-0", "remote-1"]
    (ticket,) = await pipeline.claim()
    assert ticket.id == id_
    ledger = {row["attempt_id"]: row["state"] for row in await pipeline.rows("activity")}
    assert ledger["doubt"] == "success"


async def test_a_part_that_was_found_stays_counted_whatever_a_worker_that_wakes_says(
    pipeline: Pipeline,
) -> None:
    """It slept with its permit in hand; meanwhile the part was looked for by sending it under its key."""
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    request = PermitRequest(ticket, "slept", 1, first=False)
    await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    await pipeline.operations.run(lose)
    (unconfirmed,) = await unconfirmed_send(pipeline)
    found = await pipeline.operations.run(
        lambda tx, now: resolve(tx, now, unconfirmed, Found("remote-1"))
    )
    assert found is State.SCHEDULED

    assert not await pipeline.settle(
        ticket, NotReady(timedelta(), "its permit had grown old"), "slept"
    )
    (attempt,) = [row for row in await pipeline.rows("attempt") if row["id"] == "slept"]
    assert (attempt["outcome"], attempt["remote_id"]) == ("Sent", "remote-1")
    ledger = {row["attempt_id"]: row for row in await pipeline.rows("activity")}
    assert (ledger["slept"]["state"], bool(ledger["slept"]["counts"])) == ("success", True)
    assert (await pipeline.row("delivery", id_))["parts_sent"] == '["remote-0","remote-1"]'


async def test_once_a_call_was_repeated_only_its_arrival_is_evidence(pipeline: Pipeline) -> None:
    """Who slept before the call knows nothing of the one that another made under the same key."""
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    request = PermitRequest(ticket, "slept", 0)
    await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    await pipeline.operations.run(lose)
    (unconfirmed,) = await unconfirmed_send(pipeline)
    allowed = await pipeline.operations.run(lambda tx, now: permit_repeat(tx, now, unconfirmed))
    assert not isinstance(allowed, Held)

    assert not await pipeline.settle(
        ticket, NotReady(timedelta(), "its permit had grown old"), "slept"
    )
    (attempt,), (ledger,) = await pipeline.rows("attempt"), await pipeline.rows("activity")
    assert (attempt["outcome"], bool(ledger["counts"])) == (None, True)
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"

    between = Result(ticket, Sent("remote-0"), "slept", last_part=False, parts=("remote-0",))
    await pipeline.operations.run(lambda tx, now: settle(tx, now, [between]))
    (attempt,), (ledger,) = await pipeline.rows("attempt"), await pipeline.rows("activity")
    assert (attempt["outcome"], ledger["state"]) == ("Sent", "success")
    late = await pipeline.operations.run(lambda tx, now: permit_repeat(tx, now, unconfirmed))
    assert late == Held("it is no doubt any more")


async def test_without_its_id_the_rest_has_nothing_to_follow(pipeline: Pipeline) -> None:
    id_ = await uncertain_in_the_middle(pipeline)
    answer = await decide(pipeline, id_, is_there=True)

    assert isinstance(answer, NeedsRemoteId)
    assert (answer.part, answer.left) == (2, 2)
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"


async def test_a_person_may_leave_the_rest_of_a_thread_unsent(pipeline: Pipeline) -> None:
    id_ = await uncertain_in_the_middle(pipeline)
    answer = await decide(pipeline, id_, is_there=True, rest=False)

    assert isinstance(answer, ChangedDelivery)
    row = await pipeline.row("delivery", id_)
    assert row["state"] == "sent"
    assert "parts 3 to 4 were not sent" in row["reason"]


async def test_a_thread_goes_on_only_by_a_clock_that_is_sure(pipeline: Pipeline) -> None:
    """A part whose instants are wrong would be looked for at the wrong time, and sent twice."""
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    await pipeline.operations.run(beat)
    await pipeline.operations.run(lambda tx, now: hold(tx, now, kind="clock", message="it jumped"))

    request = PermitRequest(ticket, "second", 1, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))

    assert isinstance(answer, Refusal)
    assert (answer.gate, "it jumped" in answer.message) == ("installation", True)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["parts_sent"], row["attempts"]) == ("scheduled", '["remote-0"]', 0)
    await pipeline.operations.run(lambda tx, now: confirm(tx, now, by="member:ada"))
    (again,) = await pipeline.claim()
    await send_part(pipeline, again, 1, first=True)


def stop(tx: Tx, now: datetime) -> None:
    tx.run("UPDATE workspace SET stopped_at = :now, stop_reason = 'storm'", now=now)


def start(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE workspace SET stopped_at = NULL, stop_reason = NULL")


def pause(tx: Tx, _now: datetime) -> None:
    lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="holiday")


def resume(tx: Tx, _now: datetime) -> None:
    lanes.resume(tx, workspace_id=HOME, scope="account:ada")


def suspend(tx: Tx, now: datetime) -> None:
    suspend_account(tx, now, workspace_id=HOME, account_id="ada", reason="look at it")


def lift(tx: Tx, now: datetime) -> None:
    lift_suspension(tx, now, workspace_id=HOME, account_id="ada", by="member:ada")


@pytest.mark.parametrize(
    ("shut", "opened"),
    [(stop, start), (pause, resume), (suspend, lift)],
    ids=["stop", "pause", "suspended"],
)
async def test_a_stop_or_a_pause_holds_the_rest_of_a_thread_from_its_word_on(
    pipeline: Pipeline, shut: Operation[None], opened: Operation[None]
) -> None:
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    await pipeline.operations.run(shut)

    request = PermitRequest(ticket, "second", 1, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))

    assert isinstance(answer, Refusal)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["parts_sent"], row["attempts"]) == ("scheduled", '["remote-0"]', 0)
    assert await pipeline.claim() == []
    await pipeline.operations.run(opened)
    await pipeline.wait_out()
    (again,) = await pipeline.claim()
    await send_part(pipeline, again, 1, first=True)


async def test_an_account_that_is_let_go_ends_the_rest_of_a_thread(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(content=THREAD)
    (ticket,) = await pipeline.claim()
    await send_part(pipeline, ticket, 0, first=True)
    await pipeline.operations.run(
        lambda tx, now: disconnect(tx, now, workspace_id=HOME, account_id="ada", reason="Ada left")
    )
    request = PermitRequest(ticket, "second", 1, first=False)
    (answer,) = await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    assert isinstance(answer, Refusal)
    (again,) = await pipeline.claim()
    (last,) = await pipeline.permit(again)
    assert isinstance(last, Refusal)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["parts_sent"]) == ("canceled", '["remote-0"]')


async def restored(pipeline: Pipeline) -> None:
    """Put a backup back, as the guard finds it, and confirm it."""
    await pipeline.operations.run(beat)
    await pipeline.operations.run(
        lambda tx, now: hold(tx, now, kind="restore", message="it went back")
    )
    await pipeline.operations.run(lambda tx, now: confirm(tx, now, by="operator"))
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2))
    )


@pytest.mark.parametrize("set_back", [timedelta(), timedelta(hours=2)], ids=["", "set back"])
async def test_after_a_restore_the_rest_of_a_thread_waits_for_a_person(
    pipeline: Pipeline, set_back: timedelta
) -> None:
    """The next parts may have been sent in the time that the database forgot, whatever its clock shows since."""
    id_ = await uncertain_in_the_middle(pipeline)
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET began_at = :t", t=now + set_back)
    )
    await restored(pipeline)
    (unconfirmed,) = await pipeline.operations.read(unconfirmed_attempts)
    await pipeline.operations.run(lambda tx, now: resolve(tx, now, unconfirmed, Found("remote-1")))
    row = await pipeline.row("delivery", id_)
    assert (row["state"], "part 2 is there; look whether others are" in row["reason"]) == (
        "unconfirmed",
        True,
    )
    answer = await decide(pipeline, id_, is_there=True, rest=False)
    assert isinstance(answer, ChangedDelivery)
    assert (await pipeline.row("delivery", id_))["state"] == "sent"


async def test_after_a_restore_an_old_failure_is_no_evidence_of_absence(pipeline: Pipeline) -> None:
    await uncertain_in_the_middle(pipeline)
    await pipeline.operations.run(lambda tx, _: tx.run("UPDATE attempt SET outcome = 'Transient'"))
    await restored(pipeline)
    requested: list[str] = []

    async def find_out(unconfirmed: UnconfirmedAttempt) -> Lookup:
        requested.append(unconfirmed.ticket.id)
        return Lookup(CannotTell("nobody answers"))

    await Reconciler(pipeline.operations, find_out, clock=SystemClock()).run_once()
    assert len(requested) == 1
