"""Discord: one call with its files; an unconfirmed send stays an unconfirmed send and is never sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.demo.networks.discord import SimulatedDiscord
from cadenza.demo.simulator.faults import Kind, gateway_page
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Answer, say
from cadenza.providers.connect import Connecting
from cadenza.providers.discord import CONNECTOR, PROVIDER, errors
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
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
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
CANARY = "canary-hook-that-nobody-may-read"
HOOK = "POST /api/v10/webhooks/{id}/{token}"
# A proxy that repeats a request makes two messages: nothing on our side could prevent it.
OURS = tuple(fault for fault in FAULTS if fault[0] is not Kind.TWICE)


@asynccontextmanager
async def discord(
    text: str = "Good morning",
    *,
    media: tuple[MediaItem, ...] = (),
    options: dict[str, Any] | None = None,
    forum: bool = False,
) -> AsyncGenerator[tuple[Scene, SimulatedDiscord]]:
    simulated = SimulatedDiscord()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        url = simulated.add_hook("news", token=CANARY, forum=forum)
        (hook,) = simulated.hooks.values()
        yield (
            Scene(
                simulator=simulator,
                simulated=simulated,
                provider=PROVIDER,
                http=http,
                account=AccountRef(
                    id="a1", remote_id=hook.id, settings={"guild_id": hook.guild_id}
                ),
                tokens=Tokens(access=Secret(url)),
                app=App(base_url=simulated.url()),
                message=Message(
                    channel=Channel.DISCORD, text=text, media=media, options=options or {}
                ),
                seen_as="news",
            ),
            simulated,
        )


async def test_a_message_goes_out_with_its_address_and_notifies_nobody() -> None:
    async with discord("Hello @everyone") as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        (hook,) = simulated.hooks.values()
        assert isinstance(ended.outcome, Sent)
        place = f"{hook.guild_id}/{hook.channel_id}/{ended.outcome.remote_id}"
        assert ended.outcome.url == f"https://discord.com/channels/{place}"
        assert scene.simulator.visible(simulated)[0].detail["mentions"] == {"parse": []}


async def test_files_travel_with_the_message_and_keep_their_descriptions() -> None:
    async with discord(media=(picture(), film())) as (scene, simulated):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        assert scene.simulator.visible(simulated)[0].detail["files"] == ["The sea", ""]


async def test_a_forum_takes_a_thread_by_option() -> None:
    async with discord(forum=True) as (scene, _):
        refused = await drive(scene)
        assert bare(refused.outcome) == bare(Rejected("", "220001"))
        scene.message = replace(scene.message, options={"thread_name": "News"})
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_thread_that_is_gone_costs_the_post_and_not_the_account() -> None:
    async with discord(options={"thread_id": "1234567890123456789"}) as (scene, simulated):
        gone = await drive(scene)
        judge(gone, scene)
        assert bare(gone.outcome) == bare(Rejected("", "10003"))
        (hook,) = simulated.hooks.values()
        thread = simulated.add_thread(hook)
        scene.message = replace(scene.message, options={"thread_id": thread})
        judge(await drive(scene), scene)
        assert [entry.to for entry in scene.simulator.visible(simulated)] == [thread]


@pytest.mark.parametrize("media", [(), (picture(),)], ids=["text", "file"])
@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_no_fault_makes_two_messages(
    kind: Kind,
    details: dict[str, Any],
    media: tuple[MediaItem, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with discord(media=media) as (scene, simulated):
        fault = simulated.faults.plan(kind, HOOK, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert ended.attempts == 1
        extras = [str(record.__dict__) for record in caplog.records]
        no_secret_in([caplog.text, repr(ended), *extras], [CANARY])


async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed() -> None:
    async with discord() as (scene, _):
        scene.shut_at("publish")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Unconfirmed), ended.returned(Transient)) == (0, 1)


async def test_a_hook_is_not_shown_to_the_wire_in_plain_http() -> None:
    async with discord() as (scene, _), OutboundClient(Policy(), clock=SystemClock()) as http:
        scene.http = http
        scene.tokens = Tokens(access=Secret("http://hooks.example/api/webhooks/1/abcdefgh"))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Forbidden)
        assert "https" in ended.outcome.message


async def test_a_full_bucket_waits_fractions_of_seconds_and_burns_nothing() -> None:
    async with discord() as (scene, simulated):
        scene.simulator.clock.advance(timedelta(seconds=0.5))
        for _ in range(5):
            await drive(scene)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(seconds=1.5)
        scene.tokens = Tokens(access=Secret(simulated.add_hook("other")))
        assert (await drive(scene)).returned(TryLater) == 0


async def test_the_guard_shuts_all_out_for_long() -> None:
    async with discord() as (scene, simulated):
        simulated.bad_requests.limit = 0
        (hook,) = simulated.hooks.values()
        hook.gone = True
        assert isinstance((await drive(scene)).outcome, Disconnected)
        hook.gone = False
        ended = await drive(scene)
        judge(ended, scene)
        waits = [each for each in ended.trail if isinstance(each, TryLater)]
        assert [(each.reach, each.wait) for each in waits] == [(WaitScope.APP, timedelta(hours=1))]


def _error(code: int, words: str = "No", **more: Any) -> dict[str, Any]:
    return {"message": words, "code": code, **more}


_SLOW = {"message": "You are being rate limited.", "retry_after": 0.25}
CASES: list[tuple[int, dict[str, Any] | None, Outcome]] = [
    (404, _error(10015), Disconnected("", "10015")),
    (404, _error(10003, "Unknown Channel"), Rejected("", "10003")),
    (401, _error(50027), Disconnected("", "50027")),
    (404, _error(0, "404: Not Found"), Disconnected("", "404")),
    (400, _error(50035, errors={"content": {}}), Rejected("", "50035")),
    (400, _error(50006), Rejected("", "50006")),
    (400, _error(240000), Rejected("", "240000")),
    (400, _error(220001), Rejected("", "220001")),
    (400, _error(220003), Rejected("", "220003")),
    (400, _error(50109), Rejected("", "50109")),
    (413, _error(40005), Rejected("", "40005")),
    (413, _error(0), Rejected("", "413")),
    (403, _error(50001), Forbidden("", "50001")),
    (403, _error(50013), Forbidden("", "50013")),
    (429, None, TryLater(timedelta(hours=1), WaitScope.APP, "")),
    (429, {**_SLOW, "global": True}, TryLater(timedelta(seconds=1), WaitScope.APP, "")),
    (429, {**_SLOW, "global": False}, TryLater(timedelta(seconds=1), WaitScope.ACCOUNT, "")),
    (500, _error(0), Unconfirmed("")),
    (502, _error(0), Unconfirmed("")),
    (503, _error(0), Unconfirmed("")),
    (504, _error(0), Unconfirmed("")),
    (418, _error(0), Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "body", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    status: int, body: dict[str, Any] | None, expected: Outcome
) -> None:
    async with discord() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, HOOK, answer=_answer(status, body))
        ended = await drive(scene)
        assert bare(ended.trail[1]) == bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    refusals = [errors.read(Reply(s, {}, _answer(s, b).body, "", 0), START) for s, b, _ in CASES]
    met = [errors.TABLE.row(refusal) for refusal in refusals if refusal is not None]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


async def test_what_validate_lets_through_discord_takes_and_what_not_it_refuses() -> None:
    async with discord("x" * 2000) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        scene.message = replace(scene.message, text="x" * 2001, parts=("more",))
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["too_long", "threads"]
        scene.message = replace(scene.message, parts=())
        assert bare((await drive(scene)).outcome) == bare(Rejected("", "50035"))


async def test_a_pasted_webhook_is_asked_whose_it_is() -> None:
    async with discord() as (scene, _):
        typed = Secret(scene.tokens.access.reveal() + "?wait=false")
        connected = await CONNECTOR.begin(_typed(scene, typed))
        assert isinstance(connected, tuple)
        assert connected[0].remote_id == scene.account.remote_id
        assert connected[0].settings["guild_id"] == scene.account.settings["guild_id"]
        assert CANARY not in repr(connected)
        scene.tokens = connected[0].tokens
        judge(await drive(scene), scene)


async def test_a_dead_or_foreign_address_is_refused_in_words() -> None:
    async with discord() as (scene, simulated):
        dead = Secret(f"{simulated.url()}/api/webhooks/1234567890123456789/nobody")
        assert isinstance(await CONNECTOR.begin(_typed(scene, dead)), Disconnected)
        for url in ("https://evil.example/api/webhooks/1/x", f"{simulated.url()}/x", ""):
            assert isinstance(await CONNECTOR.begin(_typed(scene, Secret(url))), Rejected)


def _answer(status: int, body: dict[str, Any] | None) -> Answer:
    return gateway_page(status) if body is None else say(status, body)


def _typed(scene: Scene, url: Secret) -> Connecting:
    now = scene.simulator.clock.now()
    return Connecting(http=scene.http, app=scene.app, now=now, typed={"url": url})


@pytest.mark.parametrize("copied", ["/api/webhooks/", "/api/v6/webhooks/", "/api/v10/webhooks/"])
async def test_a_webhook_is_called_by_the_version_that_we_know(copied: str) -> None:
    async with discord() as (scene, simulated):
        stored = scene.tokens.access.reveal().replace("/api/webhooks/", copied)
        scene.tokens = Tokens(access=Secret(stored))
        judge(await drive(scene), scene)
        assert [call.path.split("/")[2] for call in simulated.received] == ["v10"]
