"""What was said with a network is kept with the outcome that it led to, and goes after some weeks."""

import json
from datetime import UTC, datetime, timedelta

from cadenza.core.clock import SystemClock
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.record_exchanges import (
    KEPT_FOR,
    RecordedExchange,
    StoredExchange,
    prune_exchanges,
    read_exchanges,
    record_exchanges,
    worth_keeping,
)
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.http.exchange import Exchange, Step
from cadenza.providers.outcome import NotReady, Sent
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import patient, until, working
from tests.providers.mastodon.fixtures import CANARY, POSTS, mastodon

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def kept(pipeline: Pipeline, delivery: str) -> list[StoredExchange]:
    return await pipeline.operations.read(
        lambda tx, _: read_exchanges(tx, workspace_id=HOME, delivery_id=delivery)
    )


def said(method: str = "POST", at: datetime = NOON) -> Exchange:
    return Exchange(began_at=at, seconds=0.1, method=method, place="https://example.com/post")


async def test_a_sent_post_tells_what_was_sent_and_what_came_back(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), patient(scene), working(pipeline, scene):
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        await until(pipeline, id_, "sent")
        (attempt,) = await pipeline.rows("attempt")
        told = await kept(pipeline, id_)
        publish = next(each for each in told if each.step is Step.PUBLISH)
        assert publish.attempt_id == attempt["id"]
        assert publish.told["method"] == "POST"
        assert publish.told["place"].endswith("/api/v1/statuses")
        assert "Good morning" in publish.told["body"]
        assert publish.told["status"] == 200
        assert CANARY not in json.dumps(await pipeline.rows("exchange"), default=str)


async def test_a_refusal_shows_in_the_networks_own_words(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world), patient(scene), working(pipeline, scene):
        scene.simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, status=422)
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        await until(pipeline, id_, "failed", "sent")
        assert 422 in [each.told["status"] for each in await kept(pipeline, id_)]


async def test_an_unconfirmed_send_keeps_what_looking_into_it_said(pipeline: Pipeline) -> None:
    async with (
        mastodon() as (scene, _world),
        patient(scene),
        working(pipeline, scene) as (publisher, _),
    ):
        scene.simulated.faults.plan(Kind.DROP_AFTER, POSTS)
        id_ = await pipeline.post(content='{"text":"Good morning"}')
        await until(pipeline, id_, "unconfirmed")
        lost = next(each for each in await kept(pipeline, id_) if each.step is Step.PUBLISH)
        assert lost.told["status"] is None
        assert "not known" in lost.told["message"]
        await pipeline.operations.run(
            lambda tx, now: tx.run(
                "UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2)
            )
        )
        await Reconciler(pipeline.operations, publisher.find_out, clock=SystemClock()).run_once()
        await until(pipeline, id_, "sent")
        lookup = [each for each in await kept(pipeline, id_) if each.step is Step.FIND_OUT]
        assert lookup
        assert {each.attempt_id for each in lookup} == {lost.attempt_id}


async def test_of_an_unconfirmed_send_that_is_looked_into_for_days_the_last_look_is_kept(
    pipeline: Pipeline,
) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    for hour in range(3):
        look = [RecordedExchange("a1-0", said("GET", NOON + timedelta(hours=hour)))]
        await pipeline.operations.run(
            lambda tx, _, look=look: record_exchanges(tx, [(ticket.delivery.key, "a1", look)])
        )
    assert [each.began_at for each in await kept(pipeline, id_)] == [NOON + timedelta(hours=2)]


async def test_writing_a_batch_again_adds_nothing(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    await pipeline.permit(ticket)
    attempt = (await pipeline.rows("attempt"))[0]["id"]
    result = Result(
        ticket,
        Sent("r1"),
        attempt,
        exchanges=(RecordedExchange("e1", said()), RecordedExchange("e2", said())),
    )
    for _ in range(2):
        await pipeline.operations.run(
            lambda tx, now: settle(tx, now, [result]), locks=settle_locks([result])
        )
    assert [each.id for each in await kept(pipeline, id_)] == ["e1", "e2"]


async def test_nothing_said_is_no_statement_at_all(pipeline: Pipeline) -> None:
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    await pipeline.operations.run(
        lambda tx, _: record_exchanges(tx, [(ticket.delivery.key, None, ())])
    )
    assert await pipeline.rows("exchange") == []


async def test_what_is_older_than_some_weeks_goes_a_bounded_number_at_a_time(
    pipeline: Pipeline,
) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()

    def write(tx: Tx, now: datetime) -> None:
        old = [
            RecordedExchange(f"old{n}", said(at=now - KEPT_FOR - timedelta(hours=n + 1)))
            for n in range(3)
        ]
        record_exchanges(
            tx, [(ticket.delivery.key, None, [*old, RecordedExchange("new", said(at=now))])]
        )

    await pipeline.operations.run(write)
    gone = [
        await pipeline.operations.run(lambda tx, now: prune_exchanges(tx, now, most=2))
        for _ in range(3)
    ]
    assert gone == [2, 1, 0]
    assert [each.id for each in await kept(pipeline, id_)] == ["new"]


def test_asking_whether_the_network_is_ready_is_not_kept_each_time() -> None:
    exchanges = [said(), said("GET"), said("GET")]
    waiting = NotReady(timedelta(seconds=5))
    assert worth_keeping(waiting, None, exchanges) == exchanges[:1]
    assert worth_keeping(waiting, "a1", exchanges) == exchanges
    assert worth_keeping(Sent("r"), None, exchanges) == exchanges
