"""Answers that no one would expect: no shape of a body breaks an adapter, and no secret slips out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer, say
from cadenza.providers.connect import Connecting
from cadenza.providers.facebook import CONNECTOR as FACEBOOK
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.instagram import CONNECTOR as INSTAGRAM
from cadenza.providers.meta import usage
from cadenza.providers.outcome import Sent
from tests.providers.contract import Scene, drive, no_secret_in
from tests.providers.facebook import fixtures as fb
from tests.providers.instagram import fixtures as ig
from tests.providers.threads import fixtures as th

TWIN = "instagram_business_account"
BODIES: list[Any] = [
    None,
    [],
    "text",
    7,
    {"id": {}},
    {"id": [], "status": 5, "status_code": [], "is_published": "yes", "success": "yes"},
    {"data": 5, "paging": []},
    {"data": [None, 1, {"id": None, "timestamp": 4}]},
    {"data": [{"id": "1", "timestamp": "2026-03-02T09:00:00"}], "access_token": {}},
    {"data": [{"access_token": "t"}, {"id": "1", "access_token": "t", TWIN: {}}]},
    {"start_offset": "-1", "end_offset": [], "upload_session_id": 0, "video_id": 0},
]
ODD = {"facebook-api-version": "{", "x-app-usage": "[{", "x-business-use-case-usage": '{"a":[1]}'}


def _odd(body: Any, status: int) -> Answer:
    return say(status, body, tuple(ODD.items()))


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("body", BODIES)
async def test_no_shape_of_an_answer_breaks_an_adapter(body: Any, status: int) -> None:
    for open_stage in (fb.facebook, ig.instagram, th.threads):
        async with open_stage() as (scene, simulated):
            simulated.faults.plan(Kind.ERROR_BEFORE, "*", times=999, answer=_odd(body, status))
            ended = await drive(scene)
            assert not isinstance(ended.outcome, Sent)
            assert scene.visible() == []


@pytest.mark.parametrize("nth", [2, 3, 4])
@pytest.mark.parametrize("body", BODIES)
async def test_no_shape_of_an_answer_midway_breaks_an_adapter(body: Any, nth: int) -> None:
    for open_stage in (fb.facebook, ig.instagram, th.threads):
        async with open_stage() as (scene, simulated):
            simulated.faults.plan(Kind.ERROR_AFTER, "*", nth=nth, answer=_odd(body, 200))
            await drive(scene)
            assert len(scene.visible()) <= 1


def _connecting(scene: Scene) -> Connecting:
    now = scene.simulator.clock.now()
    return Connecting(http=scene.http, app=scene.app, now=now, redirect_uri="https://a.example")


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
@pytest.mark.parametrize("body", BODIES)
async def test_no_shape_of_an_answer_breaks_a_sign_in(body: Any, nth: int) -> None:
    async with fb.facebook() as (scene, simulated):
        code = Secret(simulated.approve("ada", "https://a.example"))
        simulated.faults.plan(Kind.ERROR_BEFORE, "*", nth=nth, answer=_odd(body, 200))
        assert await FACEBOOK.complete(_connecting(scene), {}, code) is not None
    async with ig.instagram(by_facebook=True) as (scene, simulated):
        code = Secret(simulated.approve("ada-person", "https://a.example"))
        simulated.faults.plan(Kind.ERROR_BEFORE, "*", nth=nth, answer=_odd(body, 200))
        assert await INSTAGRAM.complete(_connecting(scene), {}, code) is not None
    async with ig.instagram() as (scene, simulated):
        code = Secret(simulated.let_in(scene.account.remote_id, "https://a.example"))
        simulated.faults.plan(Kind.ERROR_BEFORE, "*", nth=nth, answer=_odd(body, 200))
        assert await INSTAGRAM.complete(_connecting(scene), {}, code) is not None


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [Kind.DROP_BEFORE, Kind.RESET_AFTER, Kind.ERROR_BEFORE])
async def test_a_sign_in_that_breaks_writes_no_secret_down(
    kind: Kind, nth: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with fb.facebook() as (scene, simulated):
        code = Secret(simulated.approve("ada", "https://a.example"))
        fault = simulated.faults.plan(kind, "*", nth=nth)
        done = await FACEBOOK.complete(_connecting(scene), {}, code)
        assert fault.met
        told = [caplog.text, repr(done), *(repr(vars(record)) for record in caplog.records)]
        no_secret_in(told, [*simulated.tokens, *fb.CANARIES, code.reveal()])


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*usage.SHARES, "estimated_time_to_regain_access", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(app=JUNK, business=JUNK)
def test_no_usage_header_raises_or_makes_us_wait_more_than_a_day(app: Any, business: Any) -> None:
    headers = {usage.APP: json.dumps(app), usage.BUSINESS: json.dumps(business)}
    reply = Reply(200, headers, b"", "https://a.example", 0.0)
    assert usage.breather(reply).total_seconds() <= 86400
    told = usage.regain(reply)
    assert told is None or 1 <= told.total_seconds() <= 86400
