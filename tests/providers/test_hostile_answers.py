"""Answers that no one would expect, on the open networks and the hooks: no shape of them breaks an adapter."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer, say
from cadenza.providers.bluesky import errors as bluesky_errors
from cadenza.providers.discord import errors as discord_errors
from cadenza.providers.errors import Table
from cadenza.providers.http.outcome import Reply
from cadenza.providers.mastodon import errors as mastodon_errors
from cadenza.providers.outcome import Absent, CannotTell, Found, Sent
from cadenza.providers.slack import errors as slack_errors
from cadenza.providers.webhook import errors as webhook_errors
from cadenza.providers.x import errors as x_errors
from tests.providers.bluesky.fixtures import bluesky
from tests.providers.contract import Scene
from tests.providers.discord.test_publish import discord
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.pictures import film, picture
from tests.providers.slack.test_publish import slack
from tests.providers.webhook.test_publish import webhook
from tests.providers.x.fixtures import call_of, x

Stage = Callable[[], AbstractAsyncContextManager[tuple[Scene, Any]]]
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAGES: dict[str, Stage] = {
    "mastodon": mastodon,
    "mastodon with a picture": lambda: mastodon(media=(picture(),)),
    "bluesky": lambda: bluesky("Hi @ben.test"),
    "bluesky with a picture": lambda: bluesky(media=(picture(),)),
    "x": x,
    "x with a film": lambda: x(media=(film(),)),
    "slack": slack,
    "discord": discord,
    "webhook": webhook,
}
TEXT = "Good morning"
NAIVE = "2026-03-02T09:00:00"  # an instant without its zone
BODIES: list[Any] = [
    None,
    [],
    "text",
    7,
    {"id": {}, "uri": [], "data": 5, "blob": "b", "did": {}, "value": []},
    {"error": [], "message": {}, "title": 4, "errors": [None], "type": [], "code": "x"},
    {"error": {}, "errors": {"a": 1}, "detail": [], "retry_after": {}, "global": "yes"},
    {"data": [None, 1, {"id": None, "created_at": 4}], "meta": {"result_count": 3}},
    {"data": [{"id": "1", "text": [], "created_at": NAIVE}], "meta": {"result_count": 1}},
    {"data": 5, "meta": {"result_count": 1}},
    {
        "data": [{"id": "1", "text": "x", "referenced_tweets": 5, "entities": 5}],
        "meta": {"result_count": 1},
    },
    {
        "data": [{"text": TEXT, "entities": {"urls": [None, 5]}, "note_tweet": 4}],
        "meta": {"result_count": 1},
    },
    [{"id": [], "content": TEXT, "created_at": NAIVE, "in_reply_to_id": None, "url": 5}],
    {"data": {"id": "1", "processing_info": {"state": [], "check_after_secs": "soon"}}},
    [None, 5, {"id": "1", "content": 7, "created_at": NAIVE, "in_reply_to_id": None}],
    {"accessJwt": "a.b.c", "refreshJwt": 5, "access_token": "t", "expires_in": [1]},
    {"value": {"text": 5, "createdAt": 7}, "cid": 4, "uri": "at://x"},
]
WAITS = ["nan", "1e400", "9" * 400, "Mon, 02 Mar 2026 09:00:30 +99999999999999", "-"]


@pytest.mark.parametrize("status", [200, 400, 429, 500])
@pytest.mark.parametrize("network", STAGES)
async def test_no_shape_of_an_answer_breaks_an_adapter(network: str, status: int) -> None:
    async with STAGES[network]() as (scene, simulated):
        for number, body in enumerate(BODIES):
            simulated.faults.clear()
            wait = (("retry-after", WAITS[number % len(WAITS)]),)
            simulated.faults.plan(Kind.ERROR_BEFORE, "*", times=999, answer=say(status, body, wait))
            call = replace(
                call_of(scene), began_at=NOW - timedelta(hours=2), key="k", state={"made_at": NAIVE}
            )
            await scene.provider.prepare(replace(call, state={}))
            await scene.provider.publish(call)
            await scene.provider.find_out(replace(call, now=NOW))
            await scene.provider.find_out(replace(call, began_at=NOW))
            await scene.provider.refresh(call)
            assert isinstance(await scene.provider.finish(call, Sent("1")), Sent)


def _posts(at: str) -> Answer:
    post = {"id": "1", "text": TEXT, "content": TEXT, "created_at": at}
    return say(200, [{**post, "in_reply_to_id": None}])


@pytest.mark.parametrize(
    "body",
    [
        {"data": 5, "meta": {"result_count": 1}},
        {"meta": {"result_count": 1}},
        {"data": []},
        {"data": [], "meta": {"result_count": "0"}},
    ],
)
async def test_a_list_that_cannot_be_read_is_no_proof_of_absence(body: Any) -> None:
    async with x() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, "*", answer=say(200, body))
        call = replace(call_of(scene), now=NOW + timedelta(hours=1))
        assert isinstance(await scene.provider.find_out(call), CannotTell)


async def test_an_instant_without_its_zone_is_utc() -> None:
    async with mastodon() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, "GET /api/v1/accounts/*", answer=_posts(NAIVE))
        call = replace(call_of(scene), began_at=NOW, now=NOW + timedelta(hours=3))
        assert isinstance(await scene.provider.find_out(call), Found)
        simulated.faults.plan(
            Kind.ERROR_BEFORE, "GET /api/v1/accounts/*", answer=_posts("2026-03-02T06:00:00")
        )
        assert await scene.provider.find_out(call) == Absent()


TABLES = {
    "bluesky": bluesky_errors.TABLE,
    "discord": discord_errors.TABLE,
    "mastodon": mastodon_errors.TABLE,
    "slack": slack_errors.TABLE,
    "webhook": webhook_errors.TABLE,
    "x": x_errors.TABLE,
    "x's sign-in": x_errors.SIGN_IN,
}
NAMES = ("error", "message", "error_description", "title", "detail", "type", "errors", "code")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@given(
    body=st.dictionaries(st.sampled_from((*NAMES, "retry_after", "global")), ANYTHING, max_size=4),
    status=st.sampled_from((400, 401, 403, 404, 422, 429, 500, 503)),
    wait=st.sampled_from(WAITS) | st.text(max_size=12),
)
def test_every_refusal_can_be_judged(
    table: Table, body: dict[str, Any], status: int, wait: str
) -> None:
    headers = {"retry-after": wait, "x-ratelimit-reset": wait, "x-rate-limit-reset": wait}
    refusal = table.read(Reply(status, headers, json.dumps(body).encode(), "", 0.0), NOW)
    if refusal is not None:
        table.judge(refusal)
