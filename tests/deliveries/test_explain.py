"""Explained at the instant that counts: when it is due, when it was asked about, or now; nothing is changed."""

from datetime import datetime, timedelta

import pytest

from cadenza.deliveries import lanes
from cadenza.deliveries.explain import Explanation, Past, explain
from cadenza.deliveries.permit import Permitted
from cadenza.providers.outcome import Outcome, Rejected, Sent
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


async def why(pipeline: Pipeline, id_: str, *, at: timedelta | None = None) -> Explanation:
    def ask(tx: Tx, now: datetime) -> object:
        then = None if at is None else now + at
        return explain(tx, now, workspace_id=HOME, delivery_id=id_, at=then)

    found = await pipeline.operations.read(ask)
    assert isinstance(found, Explanation)
    return found


async def send_one(pipeline: Pipeline, outcome: Outcome | None = None) -> None:
    (ticket,) = await pipeline.claim(1)
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, outcome or Sent("r"), answer.attempt_id)


def alive(tx: Tx, now: datetime) -> None:
    """Give a sign of life."""
    tx.run("DELETE FROM installation")
    tx.run(
        """
        INSERT INTO installation (id, lineage, beat_at, created_at)
        VALUES ('this', 'ours', :now, :now)
        """,
        now=now,
    )


async def test_what_is_due_later_is_judged_when_it_is_due(pipeline: Pipeline) -> None:
    """Today's cap is used up; in two days it is another day's."""
    await pipeline.limit("ada", "post", "day", 1)
    await pipeline.post()
    await send_one(pipeline)
    today, later = await pipeline.post(), await pipeline.post(due=2 * DAY)
    assert "budgets" in (await why(pipeline, today)).blocked
    told = await why(pipeline, later)
    assert not told.blocked
    assert told.judged_at == told.delivery.due_at
    assert told.sentence.startswith("it is due at")
    assert told.as_data()["judged_at"] == told.judged_at


async def test_what_would_hold_it_then_is_told_today_with_the_instant(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 3 * 86400)
    await pipeline.post()
    await send_one(pipeline)
    told = await why(pipeline, await pipeline.post(due=2 * DAY))
    assert list(told.blocked) == ["budgets"]
    due = f"{told.delivery.due_at:%Y-%m-%d %H:%M:%S} UTC"
    assert told.sentence.endswith(f"(judged at {due}, when it is due)")


async def test_any_later_instant_can_be_asked_about(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 3600)
    await pipeline.post()
    await send_one(pipeline)
    soon = await pipeline.post()
    assert list((await why(pipeline, soon)).blocked) == ["budgets"]
    then = await why(pipeline, soon, at=0.9 * HOUR)
    assert list(then.blocked) == ["budgets"]
    assert "(judged at" in then.sentence
    then = await why(pipeline, soon, at=0.99 * HOUR + timedelta(minutes=5))
    assert list(then.blocked) == ["still wanted"]  # nobody sent it for longer than its grace


async def test_what_is_not_due_at_the_instant_asked_about_says_so(pipeline: Pipeline) -> None:
    told = await why(pipeline, await pipeline.post(due=2 * DAY), at=DAY)
    assert not told.blocked
    assert "it is due at" in told.sentence
    assert "(judged at" in told.sentence


async def test_an_instant_that_is_over_is_refused(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    answer = await pipeline.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_, at=now - HOUR)
    )
    assert isinstance(answer, Past)


@pytest.mark.parametrize("gate", ["workspace", "account", "lane", "installation"])
async def test_what_holds_now_shows_for_what_is_due_later(pipeline: Pipeline, gate: str) -> None:
    def hold(tx: Tx, now: datetime) -> None:
        match gate:
            case "workspace":
                tx.run("UPDATE workspace SET stopped_at = :now, stop_reason = 'a fire'", now=now)
            case "account":
                tx.run("UPDATE account SET state = 'needs_reconnect', state_reason = 'a fire'")
            case "lane":
                lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="a fire")
            case _:
                alive(tx, now)
                tx.run("UPDATE installation SET held_at = :now, hold_reason = 'a fire'", now=now)

    later = await pipeline.post(due=2 * DAY)
    await pipeline.operations.run(hold)
    told = await why(pipeline, later)
    assert list(told.blocked) == [gate]
    assert told.blocked[gate].message.startswith("now ")
    assert "a fire" in told.blocked[gate].message


async def test_a_pause_that_ends_before_it_is_due_does_not_hold_it(pipeline: Pipeline) -> None:
    later = await pipeline.post(due=2 * DAY)
    account = {"workspace_id": HOME, "scope": "account:ada"}
    await pipeline.operations.run(
        lambda tx, now: lanes.pause(tx, **account, reason="a fair", until=now + DAY)
    )
    told = await why(pipeline, later)
    assert not told.blocked
    assert told.as_data()["gates"]["lane"]["message"].startswith("now paused, open again at")
    assert list((await why(pipeline, later, at=HOUR)).blocked) == ["lane"]


async def test_a_worker_that_is_alive_is_not_missed_in_days_to_come(pipeline: Pipeline) -> None:
    """The last sign of life is of now: at the instant it is due it would be days old."""
    later = await pipeline.post(due=2 * DAY)
    await pipeline.operations.run(alive)
    assert not (await why(pipeline, later)).blocked


@pytest.mark.parametrize("state", ["sent", "failed", "missed", "canceled"])
async def test_what_is_over_tells_what_became_of_it(pipeline: Pipeline, state: str) -> None:
    id_ = await pipeline.post()
    if state in ("sent", "failed"):
        await send_one(pipeline, None if state == "sent" else Rejected("a fire"))
    else:
        await pipeline.operations.run(
            lambda tx, _: tx.run(
                "UPDATE delivery SET state = :state, reason = 'a fire'", state=state
            )
        )
    told = await why(pipeline, id_)
    assert told.judged_at == told.now
    assert (
        told.sentence.startswith("it was sent at") if state == "sent" else "a fire" in told.sentence
    )


async def test_asking_changes_nothing(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    id_ = await pipeline.post(due=2 * DAY)
    tables = ("delivery", "lane", "bucket", "activity", "attempt", "network_wait")
    before = [await pipeline.rows(table) for table in tables]
    await why(pipeline, id_)
    await why(pipeline, id_, at=3 * DAY)
    assert [await pipeline.rows(table) for table in tables] == before
