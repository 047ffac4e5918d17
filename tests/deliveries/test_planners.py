"""Planners hear of everything that becomes of their deliveries, in the transaction that decides it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import contents, planners
from cadenza.deliveries.change import cancel, retry
from cadenza.deliveries.model import Delivery, NewDelivery
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.planners import Planner, Refused, Transition
from cadenza.deliveries.rescue import rescue
from cadenza.deliveries.schedule import AlreadyThere, schedule
from cadenza.providers.outcome import Rejected, Sent, Unconfirmed
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key
from tests.deliveries.conftest import HOME, Pipeline

LATER = timedelta(days=3)


class Counting(Planner):
    """Keeps what it is told, and gives other times three days on."""

    announces = False

    def __init__(self) -> None:
        self.moves: list[tuple[str, State, State]] = []
        self.refused: list[str] = []

    def count(self, tx: Tx, now: datetime, transitions: Sequence[Transition]) -> None:
        self.moves += [(each.delivery.id, each.delivery.state, each.after) for each in transitions]

    def replan(self, tx: Tx, now: datetime, refused: Sequence[Refused]) -> Mapping[Key, datetime]:
        self.refused += [each.gate for each in refused]
        return {each.delivery.key: now + LATER for each in refused}


@pytest.fixture
def counting() -> Iterator[Counting]:
    before = dict(planners._planners)
    planner = Counting()
    planners.register("sequence", planner)
    yield planner
    planners._planners.clear()
    planners._planners.update(before)


async def plan(pipeline: Pipeline, contact: str, step: int = 0) -> str:
    return await pipeline.post(
        sequence_id="s", contact_id=contact, step=step, recipient=f"{contact}@example.org"
    )


async def test_each_end_is_counted_once(pipeline: Pipeline, counting: Counting) -> None:
    ids = [await plan(pipeline, name) for name in ("ada", "ben", "cy")]
    for outcome in (Sent("r"), Rejected("no"), Unconfirmed("?")):
        (ticket,) = await pipeline.claim()
        (answer,) = await pipeline.permit(ticket)
        assert isinstance(answer, Permitted)
        await pipeline.settle(ticket, outcome, answer.attempt_id)
    sent, failed, unconfirmed = (State.SENT, State.FAILED, State.UNCONFIRMED)
    assert [(id_, after) for id_, _, after in counting.moves] == [
        (ids[0], sent), (ids[1], failed), (ids[2], unconfirmed),
    ]  # fmt: skip
    assert await pipeline.rows("outbox") == []


async def test_cancel_and_retry_are_counted(pipeline: Pipeline, counting: Counting) -> None:
    first, second = await plan(pipeline, "ada"), await plan(pipeline, "ben")
    await pipeline.operations.run(
        lambda tx, now: cancel(tx, now, workspace_id=HOME, id=second, reason="no")
    )
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Rejected("no"), answer.attempt_id)
    await pipeline.operations.run(lambda tx, now: retry(tx, now, workspace_id=HOME, id=first))
    assert counting.moves == [
        (second, State.SCHEDULED, State.CANCELED),
        (first, State.SENDING, State.FAILED),
        (first, State.FAILED, State.SCHEDULED),
    ]


async def test_a_call_that_nobody_answered_is_counted(
    pipeline: Pipeline, counting: Counting
) -> None:
    id_ = await plan(pipeline, "ada")
    (ticket,) = await pipeline.claim(lease=timedelta())
    await pipeline.permit(ticket)
    await pipeline.operations.run(lambda tx, now: rescue(tx, now, crash_limit=5))
    assert counting.moves == [(id_, State.SENDING, State.UNCONFIRMED)]


async def test_what_a_limit_sends_back_gets_the_planner_s_next_time(
    pipeline: Pipeline, counting: Counting
) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    first, second = await plan(pipeline, "ada"), await plan(pipeline, "ben")
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    (ticket,) = await pipeline.claim()
    await pipeline.permit(ticket)
    row = await pipeline.row("delivery", second)
    assert (counting.refused, row["attempts"], row["state"]) == (["budgets"], 0, "scheduled")
    assert row["due_at"] - row["was_due_at"] > LATER - timedelta(hours=1)
    assert (await pipeline.row("lane", "account:ada"))["parked_until"] is None
    assert first != second


async def test_nobody_gets_a_step_twice(pipeline: Pipeline) -> None:
    first = await plan(pipeline, "ada")
    new = (await pipeline.claim())[0].delivery

    def again(tx: Tx, now: datetime) -> object:
        return schedule(
            tx,
            now,
            [
                NewDelivery(
                    id="another",
                    workspace_id=HOME,
                    account_id="ben",
                    channel=new.channel,
                    action=new.action,
                    due_at=now,
                    content=new.content,
                    sequence_id="s",
                    contact_id="ada",
                )
            ],
        )

    assert await pipeline.operations.run(again) == [AlreadyThere(first)]


async def test_content_by_reference_is_completed_when_it_is_claimed(pipeline: Pipeline) -> None:
    def fill_in(tx: Tx, found: Sequence[Delivery]) -> dict[Key, str | contents.Unrenderable]:
        made = {"v1": '{"text":"hello Ada"}', "v2": contents.Unrenderable("first_name missing")}
        return {each.key: made[each.template_version_id or ""] for each in found}

    before = list(contents._fill_in)
    contents.register(fill_in)
    try:
        await pipeline.post(template_version_id="v1", content='{"variables":{}}')
        await pipeline.post("ben", template_version_id="v2", content='{"variables":{}}')
        good, bad = sorted(await pipeline.claim(), key=lambda each: each.delivery.account_id)
    finally:
        contents._fill_in[:] = before
    assert (good.delivery.content, good.problem) == ('{"text":"hello Ada"}', None)
    assert bad.problem == "first_name missing"
