"""Slack: one call, no id, no way to look; an unconfirmed send stays an unconfirmed send and is never sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.demo.networks.slack import TROUBLES, SimulatedSlack
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Answer
from cadenza.providers.connect import Connecting
from cadenza.providers.errors import UNKNOWN
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Tokens
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.slack import CONNECTOR, PROVIDER, errors
from tests.providers.contract import (
    FAULTS,
    Scene,
    bare,
    drive,
    fault_name,
    judge,
    no_secret_in,
    open_client,
)
from tests.providers.pictures import film, picture

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canaryHookThatNobodyMayRead"
HOOK = "POST /services/{team}/{bot}/{token}"
# A proxy that repeats a request makes two messages: nothing on our side could prevent it.
OURS = tuple(fault for fault in FAULTS if fault[0] is not Kind.TWICE)


@asynccontextmanager
async def slack(
    text: str = "Good morning", *, media: tuple[MediaItem, ...] = ()
) -> AsyncGenerator[tuple[Scene, SimulatedSlack]]:
    simulated = SimulatedSlack()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        url = simulated.add_hook("#news", token=CANARY)
        yield (
            Scene(
                simulator=simulator,
                simulated=simulated,
                provider=PROVIDER,
                http=http,
                account=AccountRef(id="a1", remote_id="T1/B1", handle="#news"),
                tokens=Tokens(access=Secret(url)),
                app=App(base_url=simulated.url()),
                message=Message(channel=Channel.SLACK, text=text, media=media),
                seen_as="#news",
            ),
            simulated,
        )


async def test_a_message_arrives_with_all_its_signs() -> None:
    async with slack("Fish & chips <now> for > 3") as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.outcome == Sent(None)
        assert scene.visible() == ["Fish & chips <now> for > 3"]


async def test_pictures_are_shown_by_their_address() -> None:
    shown = replace(picture(), url="https://media.example/sea.png")
    async with slack(media=(shown,)) as (scene, simulated):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        blocks = scene.simulator.visible(simulated)[0].detail["blocks"]
        assert [block["type"] for block in blocks] == ["section", "image"]


async def test_a_picture_without_an_address_is_refused_before_anything_is_sent() -> None:
    async with slack(media=(picture(),)) as (scene, simulated):
        assert isinstance((await drive(scene)).outcome, Rejected)
        assert simulated.received == []


@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_no_fault_makes_two_messages(
    kind: Kind, details: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with slack() as (scene, simulated):
        fault = simulated.faults.plan(kind, HOOK, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert ended.attempts == 1
        extras = [str(record.__dict__) for record in caplog.records]
        no_secret_in([caplog.text, repr(ended), *extras], [CANARY])


async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed() -> None:
    async with slack() as (scene, _):
        scene.shut_at("publish")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Unconfirmed), ended.returned(Transient)) == (0, 1)


async def test_a_hook_is_not_shown_to_the_wire_in_plain_http() -> None:
    async with slack() as (scene, _), OutboundClient(Policy(), clock=SystemClock()) as http:
        scene.http = http
        scene.tokens = Tokens(access=Secret("http://hooks.example/services/T1/B1/abcdefgh"))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Forbidden)
        assert "https" in ended.outcome.message


async def test_a_second_message_waits_as_told_and_another_hook_does_not() -> None:
    async with slack() as (scene, simulated):
        await drive(scene)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(seconds=1)
        scene.tokens = Tokens(access=Secret(simulated.add_hook("#other")))
        assert (await drive(scene)).returned(TryLater) == 0


CASES: list[tuple[int, str, Outcome]] = [
    (400, "invalid_payload", Rejected("", "invalid_payload")),
    (400, "no_text", Rejected("", "no_text")),
    (400, "too_many_attachments", Rejected("", "too_many_attachments")),
    (400, "invalid_blocks", Rejected("", "invalid_blocks")),
    (400, "user_not_found", RecipientGone("", "user_not_found")),
    (404, "channel_not_found", RecipientGone("", "channel_not_found")),
    (410, "channel_is_archived", RecipientGone("", "channel_is_archived")),
    (403, "action_prohibited", Forbidden("", "action_prohibited")),
    (403, "posting_to_general_channel_denied", Forbidden("", "posting_to_general_channel_denied")),
    (403, "invalid_token", Forbidden("", "invalid_token")),
    (404, "no_service", Disconnected("", "no_service")),
    (404, "no_active_hooks", Disconnected("", "no_active_hooks")),
    (404, "no_team", Disconnected("", "no_team")),
    (403, "team_disabled", Disconnected("", "team_disabled")),
    (404, "never_heard_of", Disconnected("", "never_heard_of")),
    (410, "gone_for_good", Disconnected("", "gone_for_good")),
    (429, "Too many requests", TryLater(timedelta(seconds=30), WaitScope.ACCOUNT, "")),
    (500, "rollup_error", Unconfirmed("")),
    (418, "i_am_a_teapot", Rejected("", "unknown:i_am_a_teapot")),
]


@pytest.mark.parametrize(("status", "word", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(status: int, word: str, expected: Outcome) -> None:
    async with slack() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, HOOK, answer=Answer(status, word.encode()))
        ended = await drive(scene)
        assert bare(ended.trail[1]) == bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    refusals = [errors.read(Reply(s, {}, w.encode(), "", 0), START) for s, w, _ in CASES]
    met = [errors.TABLE.row(refusal) for refusal in refusals if refusal is not None]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_troubled_hook_shows_nothing_and_says_why(trouble: str) -> None:
    async with slack() as (scene, simulated):
        next(iter(simulated.hooks.values())).trouble = trouble
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected | RecipientGone | Forbidden)
        assert trouble in ended.outcome.message


async def test_validate_tells_what_a_hook_cannot_do() -> None:
    async with slack("&" * 9_000, media=(film(),)) as (scene, _):
        scene.message = replace(scene.message, parts=("more",))
        found = scene.provider.validate(scene.message, scene.account)
        assert {each.code for each in found} == {"too_long", "threads", "media_kind"}


async def test_a_picture_that_slack_cannot_fetch_is_told_before() -> None:
    async with slack(media=(picture(),)) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [(each.code, each.blocking) for each in found] == [("media_url", True)]


async def test_a_pasted_hook_is_tried_without_showing_anything() -> None:
    async with slack() as (scene, _):
        connecting = _typed(scene, scene.tokens.access)
        connected = await CONNECTOR.begin(connecting)
        assert isinstance(connected, tuple)
        assert connected[0].remote_id.startswith("T")
        assert CANARY not in repr(connected)
        assert scene.visible() == []
        scene.tokens = connected[0].tokens
        judge(await drive(scene), scene)


async def test_a_dead_or_foreign_address_is_refused_in_words() -> None:
    async with slack() as (scene, simulated):
        dead = await CONNECTOR.begin(
            _typed(scene, Secret(f"{simulated.url()}/services/T1/B1/nobody"))
        )
        assert isinstance(dead, Disconnected)
        for url in ("https://evil.example/services/T1/B1/x", f"{simulated.url()}/x", ""):
            assert isinstance(await CONNECTOR.begin(_typed(scene, Secret(url))), Rejected)


def _typed(scene: Scene, url: Secret) -> Connecting:
    now = scene.simulator.clock.now()
    return Connecting(http=scene.http, app=scene.app, now=now, typed={"url": url, "name": "#news"})
