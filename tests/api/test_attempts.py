"""Attempts tell a sentence and what may be done; what was said with the network is for editors alone."""

from datetime import datetime, timedelta

import pytest

from cadenza.deliveries.claim import claim
from cadenza.deliveries.permit import PermitRequest, Permitted, permit
from cadenza.deliveries.record_exchanges import RecordedExchange
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.http.exchange import Exchange, Step
from cadenza.providers.outcome import Rejected
from cadenza.sql.tx import Tx
from tests.api.conftest import Place, deliver

HOME, ACCOUNT = "home-of-ada", "account-of-ada"
TRIED = f"/api/v1/workspaces/{HOME}/deliveries/tried"


@pytest.fixture
async def refused(place: Place) -> Place:
    """A delivery that the network refused, with what was said about it."""

    def send(tx: Tx, now: datetime) -> None:
        deliver(tx, now, HOME, ACCOUNT, "tried", due_at=now)
        (ticket,) = claim(tx, now, limit=1, worker="w", lease=timedelta(minutes=1))
        wish = PermitRequest(ticket, "a1")
        (answer,) = permit(tx, now, [wish])
        assert isinstance(answer, Permitted), answer
        said = Exchange(
            step=Step.PUBLISH,
            began_at=now,
            seconds=0.25,
            method="POST",
            place="https://social.example/api/v1/statuses",
            headers={"authorization": "[hidden]"},
            body='{"status": "Hello"}',
            status=422,
            reply='{"error": "too long"}',
        )
        result = Result(
            ticket, Rejected("too long"), "a1", exchanges=(RecordedExchange("e1", said),)
        )
        assert settle(tx, now, [result]) == [True]

    await place.runtime.operations.run(send)
    return place


async def test_an_attempt_says_what_came_of_it_and_what_may_be_done(refused: Place) -> None:
    viewer = await refused.client("viewer")
    (attempt,) = (await viewer.get(f"{TRIED}/attempts")).json()
    assert attempt["sentence"] == "The network refused what it says."
    assert attempt["fix"] == "edit"
    assert attempt["message"] == "too long"


async def test_what_was_said_is_shown_to_editors_and_not_to_viewers(refused: Place) -> None:
    editor = await refused.client("editor")
    (told,) = (await editor.get(f"{TRIED}/exchanges")).json()
    assert (told["attempt_id"], told["step"], told["status"]) == ("a1", "publish", 422)
    assert told["body"] == '{"status": "Hello"}'
    assert told["headers"] == {"authorization": "[hidden]"}
    viewer = await refused.client("viewer")
    assert (await viewer.get(f"{TRIED}/exchanges")).status_code == 403


async def test_what_another_workspace_said_is_not_there(refused: Place) -> None:
    ben = await refused.client("ben")
    assert (await ben.get(f"{TRIED}/exchanges")).status_code == 404
    own = TRIED.replace("ada", "ben")
    assert (await ben.get(f"{own}/exchanges")).status_code == 404
