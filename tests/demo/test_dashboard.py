"""The front desk of a simulation shows what arrived and takes faults."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from cadenza.core.clock import SystemClock
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.ledger import Entry
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Json, Request


@pytest.fixture
async def cast() -> AsyncIterator[Cast]:
    opened = await assemble()
    yield opened
    await opened.simulator.close()


async def ask(cast: Cast, method: str, path: str, body: dict[str, Any] | None = None) -> Reply:
    policy = Policy(allow=(HostRule("127.0.0.1", cast.desk.ports["api"]),))
    async with OutboundClient(policy, clock=SystemClock()) as http:
        request = Request(method, cast.desk.url() + path, body=None if body is None else Json(body))
        answer = await http.send(request)
    assert isinstance(answer, Reply)
    return answer


async def test_what_arrived_anywhere_is_on_one_page_and_harmless(cast: Cast) -> None:
    mastodon = cast.roles["mastodon"].simulated
    mastodon.show(
        Entry(simulated="mastodon", account="ada", remote_id="1", text="<b>Hi</b>", at=mastodon.now)
    )
    page = (await ask(cast, "GET", "/")).body.decode()
    assert "&lt;b&gt;Hi&lt;/b&gt;" in page
    (entry,) = json.loads((await ask(cast, "GET", "/ledger.json")).body)
    assert (entry["network"], entry["text"]) == ("mastodon", "<b>Hi</b>")


async def test_a_fault_is_set_by_a_post_and_taken_back(cast: Cast) -> None:
    wanted = {"network": "x", "kind": "delay", "seconds": 0.5, "route": "POST /2/tweets"}
    assert (await ask(cast, "POST", "/faults", wanted)).status == 201
    fault = cast.roles["x"].simulated.faults.take("POST /2/tweets", None)
    assert fault is not None
    assert (fault.kind, fault.seconds) == (Kind.DELAY, 0.5)
    assert json.loads((await ask(cast, "GET", "/faults")).body)[0]["met"] == 1
    assert (await ask(cast, "DELETE", "/faults")).status == 204
    assert cast.roles["x"].simulated.faults.take("POST /2/tweets", None) is None


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"network": "mastodn", "kind": "delay"}, "Did you mean 'mastodon'?"),
        ({"network": "x", "kind": "dely"}, "Did you mean 'delay'?"),
        ({"network": "x", "kind": "delay", "secnds": 1}, "Did you mean 'seconds'?"),
        ({"network": "x", "kind": "delay", "seconds": "long"}, "seconds must be a number"),
        ({"network": "x", "kind": "error_before", "status": 99_999}, "status must be 200 to 599"),
        ({"network": "x", "kind": "delay", "nth": 0}, "nth must be 1 to"),
    ],
)
async def test_a_fault_that_does_not_exist_is_refused_with_a_guess(
    cast: Cast, wanted: dict[str, Any], message: str
) -> None:
    answer = await ask(cast, "POST", "/faults", wanted)
    assert answer.status == 422
    assert message in json.loads(answer.body)["error"]
