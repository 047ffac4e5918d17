"""Telegram by bot: whatever goes wrong on the way, one message at most, and never a blind repeat."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import MediaItem, MediaKind, Recipient
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Forbidden,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.telegram.publish import address
from tests.providers.contract import FAULTS, drive, fault_name, judge, no_secret_in, patient_client
from tests.providers.pictures import film, picture, png
from tests.providers.telegram.fixtures import CALLS, CANARY, telegram

# A proxy that repeats a request makes two messages: nothing on our side could prevent it.
OURS = tuple(fault for fault in FAULTS if fault[0] is not Kind.TWICE)


def paper(name: str = "plan.pdf", *, kind: MediaKind = MediaKind.DOCUMENT) -> MediaItem:
    content = b"%PDF-1.7 a plan"

    async def read() -> bytes:
        return content

    return MediaItem(kind, "application/pdf", len(content), read, name=name)


async def test_a_message_goes_out_once_with_its_address() -> None:
    async with telegram() as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.url == "https://t.me/ada_daily/1"
        assert ended.outcome.remote_id == f"{scene.account.settings['chat_id']}/1"


@pytest.mark.parametrize(
    ("media", "kind"),
    [
        ((picture(),), "photo"),
        ((film(),), "video"),
        ((paper(),), "document"),
        ((replace(picture("wave.gif"), kind=MediaKind.GIF),), "animation"),
        ((picture(), film("two.mp4")), "album"),
        ((paper(), paper("more.pdf")), "album"),
        (tuple(picture(f"{n}.png") for n in range(10)), "album"),
    ],
)
async def test_files_go_out_as_what_they_are(media: tuple[MediaItem, ...], kind: str) -> None:
    async with telegram(media=media) as (scene, simulated):
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        (entry,) = scene.simulator.visible(simulated)
        assert (entry.kind, entry.detail["media"]) == (kind, len(media))


async def test_a_thread_hangs_together() -> None:
    async with telegram("One", parts=("Two", "Three"), media=(picture(),)) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        answers = [entry.detail["answers"] for entry in scene.simulator.visible(simulated)]
        assert answers == [None, 1, 2]


@pytest.mark.parametrize("media", [(), (picture(),), (picture(), picture("b.png"))])
@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_no_fault_makes_two_messages(
    kind: Kind,
    details: dict[str, Any],
    media: tuple[MediaItem, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with telegram(media=media) as (scene, simulated):
        fault = simulated.faults.plan(kind, CALLS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert ended.attempts == 1
        if kind is Kind.EXPIRE:
            assert isinstance(ended.outcome, Disconnected)
        elif kind in {Kind.HTML_AFTER, Kind.LAG} or details == {"seconds": 0.1}:
            assert isinstance(ended.outcome, Sent)
        else:
            assert isinstance(ended.outcome, Unconfirmed)
        no_secret_in([caplog.text, repr(ended)], [CANARY, CANARY.partition(":")[2]])


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize(("kind", "details"), OURS, ids=fault_name)
async def test_a_thread_stops_at_an_unconfirmed_send_and_keeps_what_is_out(
    kind: Kind, details: dict[str, Any], nth: int
) -> None:
    async with telegram("One", parts=("Two", "Three")) as (scene, simulated):
        simulated.faults.plan(kind, CALLS, nth=nth, **details)
        judge(await drive(scene), scene)


async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed() -> None:
    async with telegram() as (scene, _):
        scene.shut_at("publish")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Transient), ended.returned(Unconfirmed)) == (1, 0)


async def test_an_unconfirmed_send_cannot_be_settled_by_asking() -> None:
    async with telegram() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, CALLS)
        ended = await drive(scene)
        assert isinstance(ended.trail[-1], CannotTell)
        assert ended.trail[-1].again is None


async def test_a_group_that_moved_is_written_to_at_its_new_id_once() -> None:
    async with telegram() as (scene, simulated):
        old = simulated.add_chat("group", "Friends")
        new = simulated.upgrade(old)
        scene.message = replace(scene.message, recipient=Recipient(str(old.id)))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.moved_to == str(new.id)
        assert ended.attempts == 1
        assert [entry.to for entry in scene.simulator.visible(simulated)] == [str(new.id)]


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [
        ("private", "blocked", RecipientGone),
        ("private", "deactivated", RecipientGone),
        ("private", "never_started", RecipientGone),
        ("private", "bot", RecipientGone),
        ("group", "kicked", RecipientGone),
        ("channel", "left", RecipientGone),
        ("group", "deleted", RecipientGone),
        ("supergroup", "read_only", RecipientGone),
        ("supergroup", "no_rights", Forbidden),
        ("channel", "not_admin", Forbidden),
    ],
)
async def test_a_closed_chat_says_what_is_wrong_with_it(
    kind: str, state: str, expected: type[object]
) -> None:
    async with telegram() as (scene, simulated):
        chat = simulated.add_chat(kind, "Ben", state=state)
        scene.message = replace(scene.message, recipient=Recipient(str(chat.id)))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, expected)
        assert ended.attempts == 1


async def test_a_person_who_is_gone_does_not_stop_the_next() -> None:
    async with telegram(to="404404404") as (scene, simulated):
        assert isinstance((await drive(scene)).outcome, RecipientGone)
        cy = simulated.add_chat("private", "Cy")
        scene.message = replace(scene.message, recipient=Recipient(str(cy.id)))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.url is None


@pytest.mark.parametrize(
    ("named", "reach"), [(True, WaitScope.RECIPIENT), (False, WaitScope.ACCOUNT)]
)
async def test_a_groups_rate_waits_as_told_and_burns_nothing(named: bool, reach: WaitScope) -> None:
    async with telegram() as (scene, _):
        chat = str(scene.account.settings["chat_id"])
        if named:
            scene.message = replace(scene.message, recipient=Recipient(chat))
        for number in range(3):  # three at once are let through
            scene.message = replace(scene.message, text=f"Number {number}")
            assert (await drive(scene)).returned(TryLater) == 0
        scene.message = replace(scene.message, text="Number 3")
        scene.expected = tuple(f"Number {each}" for each in range(4))
        ended = await drive(scene)
        judge(ended, scene)
        limits = [each for each in ended.trail if isinstance(each, TryLater)]
        assert [each.reach for each in limits] == [reach]
        assert ended.waited == timedelta(seconds=1)
        assert ended.returned(Transient) == 0


async def test_waits_that_are_not_kept_grow() -> None:
    async with telegram() as (scene, _):
        waits: list[float] = []
        for _ in range(9):
            outcome = await scene.provider.publish(_call(scene))
            if isinstance(outcome, TryLater):
                waits.append(outcome.wait.total_seconds())
        assert waits == sorted(waits)
        assert waits[-1] > waits[0]


async def test_a_persons_rate_parks_the_bot() -> None:
    async with telegram() as (scene, simulated):
        ben = simulated.add_chat("private", "Ben")
        scene.message = replace(scene.message, recipient=Recipient(str(ben.id)))
        simulated.closing = True
        outcome = await scene.provider.publish(_call(scene))
        assert outcome == TryLater(
            timedelta(seconds=5),
            WaitScope.ACCOUNT,
            "Telegram asks the bot to slow down. Telegram said: Too Many Requests: retry after 5",
        )


async def test_one_bots_limit_does_not_stop_another() -> None:
    async with telegram() as (scene, simulated):
        while not isinstance(await scene.provider.publish(_call(scene)), TryLater):
            pass
        other = simulated.add_bot("ben_bot")
        scene.tokens, scene.seen_as = replace(scene.tokens, access=Secret(other)), "ben_bot"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("😀" * 4096, None),
        ("1\\.5\\-2 \\(ok\\)\\! a\\_b", "MarkdownV2"),
        ("<b>" + "x" * 4096 + "</b>", "HTML"),
        ("fish &amp; <i>chips</i> &copy;", "HTML"),
        ("*bold _and italic_* `code` [link](https://example.org/\\)) ||psst||", "MarkdownV2"),
    ],
)
async def test_what_validate_lets_through_telegram_takes(text: str, mode: str | None) -> None:
    async with telegram(text, parse_mode=mode) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        assert isinstance((await drive(scene)).outcome, Sent)
        assert len(scene.visible()) == 1


@pytest.mark.parametrize(
    ("text", "mode", "code"),
    [
        ("x" * 4097, None, "too_long"),
        ("<b>" + "x" * 4097 + "</b>", "HTML", "too_long"),
        ("", None, "empty"),
        ("<b>bold", "HTML", "markup"),
        ("<h1>big</h1>", "HTML", "markup"),
        ("1.5", "MarkdownV2", "markup"),
        ("*bold", "MarkdownV2", "markup"),
    ],
)
async def test_what_telegram_refuses_validate_has_said(
    text: str, mode: str | None, code: str
) -> None:
    async with telegram(text, parse_mode=mode) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == [code]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.attempts == 1


@pytest.mark.parametrize(
    ("media", "code"),
    [
        (tuple(picture(f"{n}.png") for n in range(11)), "too_many_media"),
        ((picture(), paper()), "mixed_media"),
        ((replace(picture(data=png(2, 60)), width=2, height=60),), "media_shape"),
        ((paper(kind=MediaKind.IMAGE),), None),
        ((picture(), paper(kind=MediaKind.IMAGE)), None),
    ],
)
async def test_files_that_do_not_fit_are_refused_once(
    media: tuple[MediaItem, ...], code: str | None
) -> None:
    async with telegram(media=media) as (scene, _), patient_client(scene.simulated) as http:
        scene.http = http
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ([code] if code else [])
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


async def test_a_long_text_below_a_picture_is_refused_before_it_leaves() -> None:
    async with telegram("x" * 1025, media=(picture(),)) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["too_long"]


async def test_options_reach_telegram() -> None:
    options = {"silent": True, "protect": True, "topic": 7, "disable_preview": True}
    async with telegram(html="<b>Hi</b>", **options) as (scene, simulated):
        scene.expected = ("Hi",)
        judge(await drive(scene), scene)
        assert simulated.received[-1].json() == {
            "chat_id": scene.account.settings["chat_id"],
            "text": "<b>Hi</b>",
            "parse_mode": "HTML",
            "disable_notification": True,
            "protect_content": True,
            "message_thread_id": 7,
            "link_preview_options": {"is_disabled": True},
        }


@pytest.mark.parametrize("topic", ["general", "-1", "7.5", "1" * 40, "²"])
async def test_a_topic_that_is_no_number_is_told_and_is_never_unconfirmed(topic: str) -> None:
    async with telegram(topic=topic) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [(each.code, each.field) for each in found] == [("topic", "options")]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


@pytest.mark.parametrize("state", ["blocked", "deactivated"])
async def test_an_album_for_somebody_who_is_gone_ends_as_a_message_does(state: str) -> None:
    async with telegram(media=(picture(), picture("two.png"))) as (scene, simulated):
        ben = simulated.add_chat("private", "Ben", state=state)
        scene.message = replace(scene.message, recipient=Recipient(str(ben.id)))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, RecipientGone)
        assert ended.outcome.shut_out


async def test_a_token_echoed_by_the_server_is_not_passed_on() -> None:
    async with telegram() as (scene, simulated):
        words = {"ok": False, "error_code": 400, "description": f"Bad Request: {CANARY} is odd"}
        simulated.faults.plan(Kind.ERROR_BEFORE, CALLS, answer=say(400, words))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], [CANARY])


@pytest.mark.parametrize(
    ("chat", "username", "url"),
    [
        ("-1001234567890", "ada", "https://t.me/ada/5"),
        ("-1001234567890", None, "https://t.me/c/1234567890/5"),
        ("-123456789", None, None),
        ("123456789", "ada", None),
    ],
)
def test_addresses_exist_where_telegram_has_them(
    chat: str, username: str | None, url: str | None
) -> None:
    assert address(chat, username, "5") == url


def _call(scene: Any) -> Any:
    from cadenza.providers.base import AttemptContext

    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=scene.simulator.clock.now(),
        message=scene.message,
    )
