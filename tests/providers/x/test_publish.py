"""X: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import MediaItem
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Found,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.x import upload
from tests.providers.contract import ATTEMPTS, FAULTS, drive, fault_name, judge, no_secret_in
from tests.providers.pictures import film, picture
from tests.providers.x.fixtures import CANARY, LISTS, POSTS, REFRESH, call_of, gif, x

WHOLE = "POST /2/media/upload"
ALT = "POST /2/media/metadata"
FILM_STEPS = [
    "POST /2/media/upload/initialize",
    "POST /2/media/upload/{id}/append",
    "POST /2/media/upload/{id}/finalize",
    "GET /2/media/upload",
]


async def test_a_post_goes_out_once_with_its_address() -> None:
    async with x("Fish & chips: https://example.org/a/very/long/path") as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.url == f"https://x.com/ada/status/{ended.outcome.remote_id}"
        assert len(str(ended.outcome.remote_id)) == 19


async def test_a_thread_hangs_together_and_each_part_is_there_once() -> None:
    async with x("One", parts=("Two", "Three")) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        entries = scene.simulator.visible(scene.simulated)
        assert [entry.to for entry in entries] == ["", entries[0].remote_id, entries[1].remote_id]


@pytest.mark.parametrize("media", [(picture(), picture("two.png")), (film(),), (gif(),)])
async def test_each_kind_of_media_arrives_once_with_its_description(
    media: tuple[MediaItem, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PIECE", 10)
    monkeypatch.setattr(upload, "PIECES_A_STEP", 3)
    async with x(media=media) as (scene, simulated):
        simulated.processing = timedelta(seconds=12)
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        assert len(simulated.media) == len(media)
        shown = scene.simulator.visible(simulated)[0].detail["media"]
        assert shown == [item.alt for item in media]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [WHOLE, ALT, POSTS])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with x("See https://example.org/a", media=(picture(),)) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is not Kind.EXPIRE or times == 1:
            assert isinstance(ended.outcome, Sent), ended.trail
        extras = [str(record.__dict__) for record in caplog.records]
        no_secret_in([caplog.text, repr(ended), *extras], [CANARY, REFRESH])


@pytest.mark.parametrize("route", FILM_STEPS)
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_film_goes_up_whatever_happens_on_the_way(
    kind: Kind, details: dict[str, Any], route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PIECE", 40)
    monkeypatch.setattr(upload, "PIECES_A_STEP", 2)
    async with x(media=(film(),)) as (scene, simulated):
        simulated.processing = timedelta(seconds=3)
        fault = simulated.faults.plan(kind, route, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_thread_goes_on_where_it_stopped(
    kind: Kind, details: dict[str, Any], nth: int
) -> None:
    async with x("One", parts=("Two", "Three")) as (scene, simulated):
        simulated.faults.plan(kind, POSTS, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_an_unconfirmed_send_survives_any_fault_of_the_list(
    kind: Kind, details: dict[str, Any]
) -> None:
    async with x() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        fault = simulated.faults.plan(kind, LISTS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Unconfirmed if kind is Kind.EXPIRE else Sent)


@pytest.mark.parametrize(
    ("kind", "lag"), [(Kind.RESET_AFTER, 170), (Kind.RESET_AFTER, 230), (Kind.TWICE, 60)]
)
async def test_a_list_that_lags_makes_no_second_post(kind: Kind, lag: int) -> None:
    async with x() as (scene, simulated):
        simulated.lag = timedelta(seconds=lag)
        simulated.faults.plan(kind, POSTS)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        if (kind, lag) == (Kind.RESET_AFTER, 170):
            assert ended.attempts == 1


async def test_a_twin_that_is_never_shown_is_not_tried_for_ever() -> None:
    async with x() as (scene, simulated):
        simulated.lag = timedelta(days=1)
        await drive(scene)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Transient)
        assert ended.attempts == ATTEMPTS
        assert scene.visible() == ["Good morning"]


async def test_an_older_twin_is_the_texts_fault_and_not_a_success() -> None:
    async with x() as (scene, _):
        await drive(scene)
        scene.simulator.clock.advance(timedelta(hours=1))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == "duplicate"
        assert scene.visible() == ["Good morning"]


async def test_two_posts_of_a_link_alone_are_told_apart() -> None:
    async with x("https://example.org/one") as (scene, simulated):
        await drive(scene)
        scene.message = replace(scene.message, text="https://example.org/two")
        simulated.faults.plan(Kind.DROP_BEFORE, POSTS)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert scene.visible() == ["https://example.org/one", "https://example.org/two"]


@pytest.mark.parametrize(
    "text",
    [
        "Fish & chips <3",
        "Cafe\u0301 https://example.org/a?b=1&c=2 now",
        "How to write &lt; and &amp; in a &copy text",
        "All of it on example.com, and at bit.ly/3abc (www.example.de)",
        "\u898b\u3066https://example.org/a\u3092 \u3069\u3046\u305e",
        "https://example.org https://example.org/b",
        "A long one. " * 40 + "https://example.org/the/end",
    ],
)
@pytest.mark.parametrize("media", [(), (picture(),)], ids=["text", "picture"])
async def test_a_lost_answer_is_looked_for_and_not_sent_again(
    text: str, media: tuple[MediaItem, ...]
) -> None:
    async with x(text, media=media) as (scene, simulated):
        simulated.users[scene.account.remote_id].characters = 25_000
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert sum(each.path == "/2/tweets" for each in simulated.received) == 1


async def test_a_post_of_its_own_is_not_taken_for_a_part_of_a_thread() -> None:
    async with x("Two") as (scene, _):
        await drive(scene)
        thread = replace(scene.message, text="One", parts=("Two",))
        call = replace(call_of(scene), message=thread, part=1, sent_parts=("1234567890123456789",))
        assert not isinstance(await scene.provider.find_out(call), Found)


@pytest.mark.parametrize("step", ["prepare", "publish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with x(media=(picture(),)) as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Unconfirmed), ended.returned(Transient)) == (0, 1)


async def test_a_token_of_two_hours_is_renewed_and_the_step_goes_on() -> None:
    async with x(media=(picture(),)) as (scene, simulated):
        scene.simulator.clock.advance(timedelta(hours=2))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Disconnected) == 1
        assert REFRESH not in simulated.refreshes


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with x() as (scene, simulated):
        simulated.post_rate.limit = 0
        began = scene.simulator.clock.advance(timedelta(minutes=5))

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > began:
                simulated.post_rate.limit = 100

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(minutes=10)


async def test_one_accounts_limit_does_not_stop_another() -> None:
    async with x() as (scene, simulated):
        simulated.post_rate.limit = 1
        await drive(scene)
        ben = simulated.add_user("ben")
        scene.tokens = replace(scene.tokens, access=Secret(ben))
        scene.account = replace(scene.account, remote_id=simulated.tokens[ben].user)
        scene.seen_as = "ben"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_used_up_credits_park_the_app() -> None:
    async with x() as (scene, simulated):
        simulated.credits = 0

        async def pay(step: str) -> None:
            if scene.simulator.clock.now().hour > 9:
                simulated.credits = 1

        scene.before = pay
        ended = await drive(scene)
        judge(ended, scene)
        parked = next(each for each in ended.trail if isinstance(each, TryLater))
        assert (parked.reach, parked.wait) == (WaitScope.APP, timedelta(hours=6))


async def test_media_that_lay_too_long_go_up_again() -> None:
    async with x(media=(picture(),)) as (scene, simulated):

        async def sleep(step: str) -> None:
            if step == "publish" and len(simulated.media) == 1:
                simulated.tokens[CANARY].expires_at += timedelta(days=2)
                scene.simulator.clock.advance(timedelta(days=1))

        scene.before = sleep
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len(simulated.media) == 2


async def test_a_missing_scope_is_a_right_that_a_person_must_give() -> None:
    async with x(scopes=("tweet.read", "users.read")) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_a_film_that_cannot_be_used_is_rejected() -> None:
    async def read() -> bytes:
        return b"nothing of a film"

    broken = replace(film(), read=read, size=17)
    async with x(media=(broken,)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


async def test_what_validate_lets_through_x_takes_and_what_not_it_refuses() -> None:
    async with x("日" * 128 + " https://example.org/" + "p" * 300) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        scene.message = replace(scene.message, text="日" * 141)
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["too_long"]
        assert isinstance((await drive(scene)).outcome, Forbidden)


async def test_parts_that_say_the_same_are_told_beforehand() -> None:
    async with x("One", parts=("Two", "Two")) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["duplicate_part"]


async def test_a_token_echoed_by_x_is_not_passed_on() -> None:
    async with x() as (scene, simulated):
        words = {"title": "Invalid", "type": f"https://x/{CANARY}", "detail": f"{CANARY} is odd"}
        simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, answer=say(400, words))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], [CANARY])
