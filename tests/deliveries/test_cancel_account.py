"""An account is let go: what it had still to send is canceled, wherever it was just then."""

from datetime import datetime

from cadenza.accounts.disconnect import disconnect
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.cancel_account import Canceled, cancel_account
from cadenza.deliveries.permit import Refusal
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Road
from tests.deliveries.test_publish import until, working
from tests.providers.mastodon.fixtures import mastodon


async def let_go(road: Road) -> Canceled:
    def operation(tx: Tx, now: datetime) -> Canceled:
        key = {"workspace_id": HOME, "account_id": "ada"}
        disconnect(tx, now, **key, reason="Ada left")
        return cancel_account(tx, now, **key, reason="Ada left")

    return await road.operations.run(operation)


async def test_what_waits_is_canceled_with_the_reason(road: Road) -> None:
    ids = [await road.post(), await road.post(approved=False)]
    assert await let_go(road) == Canceled(2, 0, 0)
    rows = [await road.row("delivery", id_) for id_ in ids]
    assert {(row["state"], row["reason"]) for row in rows} == {("canceled", "Ada left")}


async def test_what_a_worker_has_in_hand_is_canceled_before_its_call(road: Road) -> None:
    id_ = await road.post()
    (ticket,) = await road.claim()
    assert await let_go(road) == Canceled(0, 1, 0)
    (answer,) = await road.permit(ticket)
    assert isinstance(answer, Refusal)
    assert answer.state is State.CANCELED
    row = await road.row("delivery", id_)
    assert (row["state"], row["leased_until"]) == ("canceled", None)
    assert "Ada left" in row["reason"]


async def test_what_comes_back_to_an_account_that_is_gone_is_canceled(road: Road) -> None:
    async with mastodon() as (scene, _world):
        id_ = await road.post()
        await road.operations.run(
            lambda tx, now: disconnect(
                tx, now, workspace_id=HOME, account_id="ada", reason="Ada left"
            )
        )
        async with working(road, scene):
            row = await until(road, id_, "canceled", "sent", "failed")
        assert (row["state"], row["reason"]) == ("canceled", "Ada left")
        assert scene.visible() == []
