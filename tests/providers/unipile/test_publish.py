"""Unipile: in every way of sending, whatever goes wrong, one visible thing at most."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.networks.unipile_lists import problem
from cadenza.demo.networks.unipile_model import Item, Rules
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import AttemptContext
from cadenza.providers.message import Message, Recipient
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Forbidden,
    Found,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.providers.unipile.request import body_of, url
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge, no_secret_in
from tests.providers.pictures import picture
from tests.providers.unipile.fixtures import CANARY, WAYS, unipile

# A proxy that repeats a request makes two messages: nothing on our side could prevent it.
OURS = tuple(fault for fault in FAULTS if fault[0] is not Kind.TWICE)
BEFORE = (Kind.DROP_BEFORE, Kind.ERROR_BEFORE)


@pytest.mark.parametrize("way", WAYS)
async def test_it_goes_out_once_and_is_named(way: str) -> None:
    async with unipile(way) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.remote_id


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_without_an_id_is_a_success_and_the_id_is_found(way: str) -> None:
    async with unipile(way, rules=Rules(null_ids=True)) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.remote_id == scene.simulator.visible(simulated)[0].remote_id


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_no_fault_makes_two(
    kind: Kind, details: dict[str, Any], way: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with unipile(way) as (scene, simulated):
        fault = simulated.faults.plan(kind, WAYS[way][1], **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is Kind.EXPIRE:
            assert isinstance(ended.outcome, Disconnected)
        elif kind in BEFORE:  # it never went out, and no list can prove that
            assert isinstance(ended.outcome, Unconfirmed)
            assert ended.attempts == 1
        else:
            assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], [CANARY])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_no_fault_while_looking_makes_two(
    kind: Kind, details: dict[str, Any], way: str
) -> None:
    async with unipile(way) as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, WAYS[way][1])
        fault = simulated.faults.plan(kind, "GET *", **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail


@pytest.mark.parametrize("way", WAYS)
async def test_a_list_that_lags_is_asked_again(way: str) -> None:
    async with unipile(way) as (scene, simulated):
        simulated.lag = timedelta(minutes=3)
        simulated.faults.plan(Kind.RESET_AFTER, WAYS[way][1])
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(CannotTell) >= 1
        assert ended.attempts == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_list_that_lags_for_hours_leaves_it_to_a_person(way: str) -> None:
    async with unipile(way) as (scene, simulated):
        simulated.lag = timedelta(hours=9)
        simulated.faults.plan(Kind.RESET_AFTER, WAYS[way][1])
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Unconfirmed)
        later = await scene.provider.find_out(_look(scene, after=timedelta(hours=1)))
        if way == "invitation":  # a second one is refused over there, so trying is safe
            assert later == Absent()
            again = await drive(scene)
            judge(again, scene)
            assert isinstance(again.outcome, Sent)
            assert "Nothing new was sent" in (again.outcome.note or "")
        else:
            assert isinstance(later, CannotTell)
            assert later.again is None


async def test_a_long_list_is_read_page_by_page() -> None:
    async with unipile("message") as (scene, simulated):
        simulated.page = 2
        simulated.faults.plan(Kind.RESET_AFTER, WAYS["message"][1])
        wanted = scene.message
        call = _look(scene)
        await scene.provider.publish(call)
        for number in range(5):
            scene.message = replace(wanted, text=f"Number {number}")
            await scene.provider.publish(_look(scene))
        scene.message = wanted
        assert isinstance(await scene.provider.find_out(call), Found)


@pytest.mark.parametrize("heeds_after", [True, False])
async def test_the_same_words_from_before_are_not_taken_for_the_message(heeds_after: bool) -> None:
    async with unipile("message") as (scene, simulated):
        simulated.heeds_after = heeds_after
        await drive(scene)
        scene.simulator.clock.advance(timedelta(hours=1))
        assert isinstance(await scene.provider.find_out(_look(scene)), CannotTell)


async def test_a_wait_met_while_looking_is_waited_out() -> None:
    async with unipile("email") as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, WAYS["email"][1])
        answer = problem(429, "too_many_requests", "Slow down")
        simulated.faults.plan(Kind.ERROR_BEFORE, "GET /api/v1/emails", answer=answer)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        told = next(each for each in ended.trail if isinstance(each, CannotTell))
        assert told.again == timedelta(minutes=2)


async def test_another_attempts_mail_is_not_taken_for_this_one() -> None:
    async with unipile("email") as (scene, _):
        await scene.provider.publish(_look(scene, key="another"))
        assert isinstance(await scene.provider.find_out(_look(scene)), CannotTell)
        assert isinstance(await scene.provider.find_out(_look(scene, key="another")), Found)


@pytest.mark.parametrize("way", WAYS)
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(way: str) -> None:
    async with unipile(way) as (scene, _):
        scene.shut_at("publish")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Transient), ended.returned(Unconfirmed)) == (1, 0)


async def test_a_days_limit_waits_and_burns_nothing() -> None:
    async with unipile("invitation") as (scene, simulated):
        simulated.limits["invitation"].limit = 1
        simulated.limits["invitation"].hit(scene.account.remote_id, scene.simulator.clock.now())
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) >= 1
        assert (ended.returned(Transient), ended.waited) == (0, timedelta(days=1))


@pytest.mark.parametrize("way", ["message", "email"])
async def test_a_limit_without_a_time_lets_the_account_wait_longer_each_time(way: str) -> None:
    async with unipile(way) as (scene, simulated):
        simulated.limits[way].limit = 1
        simulated.limits[way].hit(scene.account.remote_id, scene.simulator.clock.now())
        outcome = await scene.provider.publish(scene.call())
        assert isinstance(outcome, TryLater)
        assert not outcome.named


async def test_a_limit_that_shows_as_a_fault_is_unconfirmed_and_no_second_inmail() -> None:
    async with unipile("inmail") as (scene, simulated):
        simulated.limits["inmail"].limit = 0
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Unconfirmed)
        assert ended.attempts == 1


async def test_one_accounts_limit_does_not_stop_another() -> None:
    async with unipile("chat") as (scene, simulated):
        simulated.limits["message"].limit = 1
        await drive(scene)
        cy = simulated.add_account("Cy")
        scene.account = replace(scene.account, remote_id=cy.id)
        scene.seen_as = "Cy"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_an_account_that_signed_in_again_goes_on() -> None:
    async with unipile("chat") as (scene, simulated):
        account = simulated.accounts[scene.account.remote_id]
        account.status = "CREDENTIALS"

        async def before(step: str) -> None:
            if step == "refresh":
                account.status = "OK"

        scene.before = before
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize("state", ["blocked_recipient", "user_unreachable", "invalid_recipient"])
async def test_a_person_who_is_gone_does_not_stop_the_next(state: str) -> None:
    async with unipile("chat") as (scene, simulated):
        gone = simulated.add_person("Cy", state=state)
        ben = scene.message
        scene.message = replace(ben, recipient=Recipient(gone.id))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, RecipientGone)
        scene.message = ben
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_someone_who_is_a_contact_already_is_not_invited() -> None:
    async with unipile("invitation") as (scene, simulated):
        cy = simulated.add_person("Cy", connected=True)
        scene.message = replace(scene.message, recipient=Recipient(cy.id))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert "Nothing new was sent" in (ended.outcome.note or "")
        assert scene.visible() == []


async def test_a_mail_carries_its_headers_and_files() -> None:
    url_ = "https://cadenza.example/u/t0ken"
    files = (picture("a.png"), picture("b.png"))
    async with unipile("email", "One\n<two>", unsubscribe_url=url_, media=files) as (
        scene,
        simulated,
    ):
        scene.expected = ("One<br>&lt;two&gt;",)
        judge(await drive(scene), scene)
        parts = simulated.received[-1].parts()
        assert [part.filename for part in parts if part.name == "attachments"] == ["a.png", "b.png"]
        headers = json.loads(next(part.text for part in parts if part.name == "custom_headers"))
        assert {each["name"]: each["value"] for each in headers[1:]} == {
            "List-Unsubscribe": f"<{url_}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
        assert headers[0]["name"] == "X-Cadenza-Attempt"


@pytest.mark.parametrize(
    ("way", "more", "code"),
    [
        ("invitation", {"text": "x" * 301}, "too_long"),
        ("invitation", {"media": (picture(),)}, "media_kind"),
        ("message", {"text": ""}, "empty"),
        ("inmail", {"subject": ""}, "no_subject"),
        ("email", {"subject": ""}, "no_subject"),
        ("email", {"recipient": Recipient("ben")}, "bad_address"),
        ("email", {"subject": "Hi\r\nBcc: cy@example.org"}, "control_character"),
        ("email", {"recipient": Recipient("ben@example.org", "Ben\nX: y")}, "control_character"),
        ("email", {"unsubscribe_url": "http://cadenza.example/u"}, "unsubscribe_url"),
        ("email", {"unsubscribe_url": "https://cadenza.example/u\r\nX: y"}, "unsubscribe_url"),
        ("chat", {"recipient": None}, "no_recipient"),
        ("chat", {"media": (replace(picture(), size=26 * 1024 * 1024),)}, "media_size"),
    ],
)
async def test_what_would_be_refused_is_said_before(
    way: str, more: dict[str, Any], code: str
) -> None:
    async with unipile(way, **more) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == [code]


async def test_a_note_that_is_too_long_after_all_is_rejected_once() -> None:
    async with unipile("invitation", "x" * 250) as (scene, simulated):
        simulated.accounts[scene.account.remote_id].note_length = 200
        settings = {**scene.account.settings, "note_length": 200}
        free = replace(scene.account, settings=settings)
        assert [each.code for each in scene.provider.validate(scene.message, free)] == ["too_long"]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.attempts == 1


async def test_a_key_echoed_by_unipile_is_not_passed_on() -> None:
    async with unipile("chat") as (scene, simulated):
        answer = problem(403, "insufficient_permissions", f"{CANARY} may not")
        simulated.faults.plan(Kind.ERROR_BEFORE, WAYS["chat"][1], answer=answer)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Forbidden)
        no_secret_in([repr(ended)], [CANARY])


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("api1.unipile.com:13111", "https://api1.unipile.com/api/v1/emails?to=a%40b&port=13111"),
        (
            "https://api8.unipile.com:13811",
            "https://api8.unipile.com/api/v1/emails?to=a%40b&port=13811",
        ),
        ("https://api8.unipile.com", "https://api8.unipile.com/api/v1/emails?to=a%40b"),
        ("http://127.0.0.1:5555", "http://127.0.0.1:5555/api/v1/emails?to=a%40b"),
    ],
)
def test_the_customers_port_goes_into_the_query(dsn: str, expected: str) -> None:
    assert url(dsn, "/emails", {"to": "a@b"}) == expected


def test_html_is_sent_as_it_is() -> None:
    message = Message(channel=Channel.EMAIL, text="Hi", html="<p>Hi</p>")
    assert body_of(message) == "<p>Hi</p>"


def _look(scene: Scene, *, after: timedelta = timedelta(), key: str = "a key") -> AttemptContext:
    """Make a call of an attempt that began now, some time on."""
    began_at = scene.simulator.clock.now()
    now = scene.simulator.clock.advance(after)
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=now,
        message=scene.message,
        key=key,
        began_at=began_at,
    )


async def test_an_invitation_is_not_absent_while_the_list_goes_on() -> None:
    async with unipile("invitation") as (scene, simulated):
        simulated.page = 1
        (ada,) = simulated.accounts.values()
        for number in range(30):
            shown: dict[str, object] = {"id": f"i{number}", "invited_user_id": f"p{number}"}
            at = scene.simulator.clock.now()
            simulated.items.append(Item("invitation", ada.id, f"p{number}", at, shown))
        call = _look(scene, after=timedelta(hours=1))
        assert isinstance(await scene.provider.find_out(call), CannotTell)
        simulated.page = 100
        assert await scene.provider.find_out(call) == Absent()
