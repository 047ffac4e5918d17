"""An account is let go: what it had still to send is canceled, wherever it was just then."""

from datetime import datetime

from cadenza.accounts.disconnect import disconnect
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.cancel_account import Canceled, cancel_account
from cadenza.deliveries.permit import Refusal
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import until, working
from tests.providers.mastodon.fixtures import mastodon


async def let_go(pipeline: Pipeline) -> Canceled:
    def operation(tx: Tx, now: datetime) -> Canceled:
        key = {"workspace_id": HOME, "account_id": "ada"}
        disconnect(tx, now, **key, reason="Ada left")
        return cancel_account(tx, now, **key, reason="Ada left")

    return await pipeline.operations.run(operation)


async def test_what_waits_is_canceled_with_the_reason(pipeline: Pipeline) -> None:
    ids = [await pipeline.post(), await pipeline.post(approved=False)]
    assert await let_go(pipeline) == Canceled(2, 0, 0)
    rows = [await pipeline.row("delivery", id_) for id_ in ids]
    assert {(row["state"], row["reason"]) for row in rows} == {("canceled", "Ada left")}


async def test_what_a_worker_has_in_hand_is_canceled_before_its_call(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    assert await let_go(pipeline) == Canceled(0, 1, 0)
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Refusal)
    assert answer.state is State.CANCELED
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["leased_until"]) == ("canceled", None)
    assert "Ada left" in row["reason"]


async def test_what_comes_back_to_an_account_that_is_gone_is_canceled(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, _world):
        id_ = await pipeline.post()
        await pipeline.operations.run(
            lambda tx, now: disconnect(
                tx, now, workspace_id=HOME, account_id="ada", reason="Ada left"
            )
        )
        async with working(pipeline, scene):
            row = await until(pipeline, id_, "canceled", "sent", "failed")
        assert (row["state"], row["reason"]) == ("canceled", "Ada left")
        assert scene.visible() == []
