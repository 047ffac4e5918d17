"""Signed webhooks: a receiver that drops what it has seen gets each message once, whatever happens."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.demo.networks.webhook import SimulatedWebhook
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Answer
from cadenza.providers.base import AttemptContext, Prepared
from cadenza.providers.connect import Connecting
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
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
from cadenza.providers.split_address import cut_address
from cadenza.providers.webhook import CONNECTOR, PROVIDER, errors
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
from tests.providers.pictures import picture

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "whsec_" + base64.b64encode(b"canary-key-that-nobody-may-read!").decode()
HOOK = "POST /hooks/{name}"


@asynccontextmanager
async def webhook(
    text: str = "Good morning", *, parts: tuple[str, ...] = ()
) -> AsyncGenerator[tuple[Scene, SimulatedWebhook]]:
    simulated = SimulatedWebhook()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        url = simulated.add_endpoint("ada", CANARY)
        yield (
            Scene(
                simulator=simulator,
                simulated=simulated,
                provider=PROVIDER,
                http=http,
                account=AccountRef(id="a1", remote_id="h", settings={"url": cut_address(url)}),
                tokens=Tokens(access=Secret(CANARY), extra={"url": Secret(url)}),
                app=App(base_url=""),
                message=Message(channel=Channel.WEBHOOK, text=text, parts=parts),
                seen_as="ada",
            ),
            simulated,
        )


async def test_a_message_arrives_signed_in_the_standards_shape() -> None:
    async with webhook("Grüße 😀") as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        (body,) = simulated.receivers["ada"].seen.values()
        assert json.loads(body) == {
            "type": "message.published",
            "timestamp": "2026-03-02T09:00:00.000000Z",
            "data": {"text": "Grüße 😀"},
        }


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_makes_two_messages(
    kind: Kind, details: dict[str, Any], times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with webhook() as (scene, simulated):
        fault = simulated.faults.plan(kind, HOOK, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert simulated.receivers["ada"].changed == 0
        expected = Disconnected if kind is Kind.EXPIRE else Sent
        assert isinstance(ended.outcome, expected), ended.trail
        extras = [str(record.__dict__) for record in caplog.records]
        no_secret_in([caplog.text, repr(ended), *extras], [CANARY, CANARY.removeprefix("whsec_")])


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_thread_goes_on_where_it_stopped(
    kind: Kind, details: dict[str, Any], nth: int
) -> None:
    async with webhook("One", parts=("Two", "Three")) as (scene, simulated):
        simulated.faults.plan(kind, HOOK, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected if kind is Kind.EXPIRE else Sent)
        entries = scene.simulator.visible(simulated)
        before = ["", *(entry.remote_id for entry in entries[:-1])]
        assert [entry.to for entry in entries] == before[: len(entries)]


async def test_a_repeat_is_the_same_message_to_the_byte() -> None:
    async with webhook() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, HOOK)
        judge(await drive(scene), scene)
        assert simulated.receivers["ada"].repeats == 1
        first, again = simulated.received
        assert first.body == again.body
        assert first.headers["webhook-id"] == again.headers["webhook-id"]
        assert first.headers["webhook-timestamp"] != again.headers["webhook-timestamp"]


async def test_a_later_attempt_has_the_same_bytes_under_the_same_id() -> None:
    async with webhook() as (scene, simulated):
        prepared = await PROVIDER.prepare(scene_call(scene, START))
        assert isinstance(prepared, Prepared)
        for minutes in (1, 5, 30):
            began_at = START + timedelta(minutes=minutes)
            call = replace(scene_call(scene, START), state=prepared.state, began_at=began_at)
            again = await PROVIDER.prepare(call)
            assert again == prepared
            assert isinstance(await PROVIDER.publish(call), Sent)
        assert len({each.headers["webhook-id"] for each in simulated.received}) == 1
        assert len({each.body for each in simulated.received}) == 1
        assert simulated.receivers["ada"].changed == 0


def scene_call(scene: Scene, now: datetime) -> AttemptContext:
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=now,
        message=scene.message,
        key="k",
    )


async def test_after_a_day_an_unconfirmed_send_is_left_to_a_person() -> None:
    async with webhook() as (scene, simulated):
        call = AttemptContext(
            account=scene.account,
            tokens=scene.tokens,
            app=scene.app,
            http=scene.http,
            now=START + timedelta(days=2),
            message=scene.message,
            key="k",
            began_at=START,
        )
        found = await PROVIDER.find_out(call)
        assert isinstance(found, CannotTell)
        assert found.again is None
        assert simulated.received == []


async def test_a_changed_secret_is_taken_by_receivers_old_and_new() -> None:
    async with webhook() as (scene, simulated):
        fresh = "whsec_" + base64.b64encode(b"n" * 32).decode()
        extra = {**scene.tokens.extra, "previous": Secret(CANARY)}
        scene.tokens = Tokens(access=Secret(fresh), extra=extra)
        judge(await drive(scene), scene)
        simulated.receivers["ada"].secrets = (fresh,)
        scene.delivery = "delivery-2"
        assert isinstance((await drive(scene)).outcome, Sent)
        assert simulated.receivers["ada"].bad_signatures == 0


async def test_a_secret_is_changed_by_connecting_with_the_old_one_beside_it() -> None:
    async with webhook() as (scene, simulated):
        fresh = "whsec_" + base64.b64encode(b"n" * 32).decode()
        connecting = _typed(scene, f"{simulated.url()}/hooks/ada", fresh)
        typed = {**connecting.typed, "previous": Secret(CANARY)}
        connected = await CONNECTOR.begin(replace(connecting, typed=typed))
        assert isinstance(connected, tuple)
        assert CANARY not in repr(connected)
        scene.tokens = connected[0].tokens
        judge(await drive(scene), scene)  # the receiver knows the old one alone
        typed["previous"] = Secret("whsec_short")
        assert isinstance(await CONNECTOR.begin(replace(connecting, typed=typed)), Rejected)


async def test_a_wrong_secret_is_not_believed_by_the_receiver() -> None:
    async with webhook() as (scene, simulated):
        wrong = Secret("whsec_" + base64.b64encode(b"w" * 32).decode())
        scene.tokens = replace(scene.tokens, access=wrong)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)
        assert simulated.receivers["ada"].bad_signatures == ended.attempts
        scene.tokens = Tokens(access=Secret("not a secret"))
        assert isinstance((await drive(scene)).outcome, Forbidden)


@pytest.mark.parametrize("dates", [False, True])
async def test_a_receiver_that_is_full_is_left_alone_as_told(dates: bool) -> None:
    async with webhook() as (scene, simulated):
        simulated.says_dates = dates
        simulated.rate.limit = 0
        began = scene.simulator.clock.advance(timedelta(seconds=20))

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > began:
                simulated.rate.limit = 10

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(seconds=40)


async def test_a_closed_address_closes_the_account_and_a_moved_one_is_not_followed() -> None:
    async with webhook() as (scene, simulated):
        simulated.receivers["ada"].closed = True
        assert isinstance((await drive(scene)).outcome, Disconnected)
        simulated.receivers["ada"].closed, simulated.receivers["ada"].moved = False, True
        moved = await drive(scene)
        judge(moved, scene)
        assert isinstance(moved.outcome, Forbidden)
        assert {each.path for each in simulated.received} == {"/hooks/ada"}


async def test_an_address_of_the_own_network_is_never_called() -> None:
    async with (
        webhook() as (scene, simulated),
        OutboundClient(Policy(), clock=SystemClock()) as http,
    ):
        scene.http = http
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden | Transient)
        inside = {"url": Secret("https://127.0.0.1/hooks")}
        scene.tokens = replace(scene.tokens, extra=inside)
        assert isinstance((await drive(scene)).outcome, Forbidden | Transient)
        assert simulated.received == []


async def test_the_receivers_words_are_not_shown() -> None:
    async with webhook() as (scene, simulated):
        simulated.faults.plan(
            Kind.ERROR_BEFORE, HOOK, times=9, answer=Answer(400, b"inside of a private house")
        )
        ended = await drive(scene)
        assert isinstance(ended.outcome, Transient)
        assert "private" not in repr(ended)


CASES: list[tuple[int, str, Outcome]] = [
    (410, "", Disconnected("", "410")),
    (429, "7", TryLater(timedelta(seconds=7), WaitScope.ACCOUNT, "")),
    (502, "", Unconfirmed("")),
    (502, "7", TryLater(timedelta(seconds=7), WaitScope.ACCOUNT, "")),
    (503, "7", TryLater(timedelta(seconds=7), WaitScope.ACCOUNT, "")),
    (504, "", Unconfirmed("")),
    (500, "", Unconfirmed("")),
    (307, "", Forbidden("", "307")),
    (400, "", Transient("")),
    (404, "", Transient("")),
]


@pytest.mark.parametrize(("status", "wait", "expected"), CASES)
async def test_a_status_means_what_its_row_says(status: int, wait: str, expected: Outcome) -> None:
    async with webhook() as (scene, simulated):
        headers = (("retry-after", wait),) if wait else ()
        answer = Answer(status, b"no", headers)
        simulated.faults.plan(Kind.ERROR_BEFORE, HOOK, answer=answer)
        ended = await drive(scene)
        judge(ended, scene)
        assert bare(ended.trail[1]) == bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    met = {status for status, _, _ in CASES}
    assert {row.status for row in errors.TABLE.rows} <= met


async def test_what_is_typed_is_checked_and_connects() -> None:
    async with webhook() as (scene, simulated):
        url = f"{simulated.url()}/hooks/ada"
        connected = await CONNECTOR.begin(_typed(scene, url, CANARY))
        assert isinstance(connected, tuple)
        assert connected[0].settings == {"url": f"{simulated.url()}/…"}
        assert CANARY not in repr(connected)
        assert "hooks/ada" not in repr(connected)
        scene.tokens = connected[0].tokens
        judge(await drive(scene), scene)
        for typed in (("ftp://a.example", CANARY), ("", CANARY), (url, "whsec_short")):
            assert isinstance(await CONNECTOR.begin(_typed(scene, *typed)), Rejected)


def test_a_large_message_is_a_warning_only() -> None:
    account = AccountRef(id="a1", remote_id="r", settings={"url": "https://example.com"})
    message = Message(channel=Channel.WEBHOOK, text="x" * 20_000)
    found = PROVIDER.validate(message, account)
    assert [(each.code, each.blocking) for each in found] == [("large", False)]


def _typed(scene: Scene, url: str, secret: str) -> Connecting:
    now = scene.simulator.clock.now()
    typed: dict[str, str | Secret] = {"url": url, "secret": Secret(secret)}
    return Connecting(http=scene.http, app=scene.app, now=now, typed=typed)


async def test_a_file_goes_with_an_address_that_can_be_fetched() -> None:
    async with webhook() as (scene, _):
        public = replace(picture(), url="https://media.example/sea", own_url="http://127.0.0.1/sea")
        near = replace(picture(), own_url="http://127.0.0.1:8080/media/public/token/sea.png")
        for item, url, codes in (
            (public, "https://media.example/sea", []),
            (near, near.own_url, [("media_url", False)]),
            (picture(), None, [("media_url", True)]),
        ):
            message = replace(scene.message, media=(item,))
            found = scene.provider.validate(message, scene.account)
            assert [(each.code, each.blocking) for each in found] == codes
            if url is not None:
                call = replace(scene.call(), message=message, key=f"key-{url}", now=START)
                assert isinstance(await scene.provider.publish(call), Sent)
                entry = scene.simulator.visible(scene.simulated)[-1]
                assert [each["url"] for each in entry.detail["data"]["media"]] == [url]
