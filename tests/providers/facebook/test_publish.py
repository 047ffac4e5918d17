"""Facebook: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.base import AttemptContext, Prepared
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import MediaItem, Message
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from tests.providers.contract import FAULTS, drive, fault_name, judge, no_secret_in
from tests.providers.facebook.fixtures import (
    CANARIES,
    CANARY,
    FEED,
    NODE,
    PHOTOS,
    SWITCH,
    USER,
    VIDEOS,
    facebook,
)
from tests.providers.pictures import film, picture

OUT_OF_ORDER = envelope(1, "An unknown error occurred", status=500)


async def test_a_post_goes_out_once_with_its_address() -> None:
    async with facebook() as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.remote_id in simulated.posts
        assert ended.outcome.url == simulated.posts[str(ended.outcome.remote_id)].permalink


async def test_photos_stand_together_in_one_post() -> None:
    async with facebook(media=(picture("a.png"), picture("b.png"))) as (scene, simulated):
        judge(await drive(scene), scene)
        assert scene.simulator.visible(simulated)[0].detail["photos"] == 2


async def test_a_link_is_carried_along() -> None:
    async with facebook(link="https://example.org/bread") as (scene, simulated):
        judge(await drive(scene), scene)
        assert scene.simulator.visible(simulated)[0].detail["link"] == "https://example.org/bread"


async def test_a_video_is_sent_in_pieces_and_shown_once() -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert str(ended.outcome.url).startswith("https://www.facebook.com/reel/")
        assert len([each for each in simulated.received if each.path.endswith("/videos")]) > 3


async def test_a_video_is_read_once_however_many_pieces_it_has() -> None:
    reads = 0

    async def read() -> bytes:
        nonlocal reads
        reads += 1
        return await film().read()

    async with facebook(media=(replace(film(), read=read),)) as (scene, simulated):
        simulated.piece = 8
        judge(await drive(scene), scene)
        assert len([each for each in simulated.received if each.path.endswith("/videos")]) > 10
        assert reads == 1


async def test_a_video_that_gets_no_further_ends() -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        same = say(200, {"start_offset": "0", "end_offset": "40"})
        simulated.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=2, times=999, answer=same)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [PHOTOS, FEED, SWITCH, NODE])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with facebook(media=(picture(),)) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is not Kind.EXPIRE:
            assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], CANARIES)


@pytest.mark.parametrize("nth", [1, 2, 3, 5])  # the start, pieces, the last word
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_makes_two_videos(
    kind: Kind, details: dict[str, Any], nth: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        fault = simulated.faults.plan(kind, VIDEOS, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], CANARIES)


@pytest.mark.parametrize("kind", [Kind.ERROR_BEFORE, Kind.ERROR_AFTER])
@pytest.mark.parametrize("route", [SWITCH, FEED])
async def test_out_of_order_with_or_without_effect_makes_one_post(route: str, kind: Kind) -> None:
    async with facebook() as (scene, simulated):
        simulated.faults.plan(kind, route, answer=OUT_OF_ORDER)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Unconfirmed) == (1 if route == SWITCH else 0)


@pytest.mark.parametrize("media", [picture(), film()], ids=["photo", "video"])
@pytest.mark.parametrize("code", [4, 190, 200, 368, 80001, 100])
async def test_a_refusal_of_what_is_shown_never_makes_a_second(code: int, media: MediaItem) -> None:
    async with facebook(media=(media,)) as (scene, simulated):
        route, nth = (VIDEOS, 5) if media.mime == "video/mp4" else (SWITCH, 1)
        times = 1 if code == 190 else 3  # a token is renewed once
        no = envelope(code, "No")
        simulated.faults.plan(Kind.ERROR_AFTER, route, nth=nth, times=times, answer=no)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail


@pytest.mark.parametrize("step", ["prepare", "publish", "finish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with facebook(media=(picture(),)) as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Unconfirmed) == 0
        assert ended.returned(Transient) == (0 if step == "finish" else 1)


@pytest.mark.parametrize("route", [PHOTOS, FEED, SWITCH])
async def test_a_pages_token_that_ends_midway_is_renewed_once_and_the_post_goes_on(
    route: str,
) -> None:
    async with facebook(media=(picture(),)) as (scene, simulated):
        simulated.faults.plan(Kind.EXPIRE, route)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Disconnected) == 1
        assert len(simulated.photos) == 1  # what was done before was not done again


async def test_a_person_who_changed_their_password_must_connect_again() -> None:
    async with facebook() as (scene, simulated):
        simulated.tokens[USER].trouble = "password"
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.outcome == Disconnected(getattr(ended.outcome, "message", ""), "190/460")


async def test_the_same_words_twice_in_a_row_are_refused_and_nothing_doubles() -> None:
    async with facebook() as (scene, _):
        assert isinstance((await drive(scene)).outcome, Sent)
        again = await drive(scene)
        assert isinstance(again.outcome, Rejected)
        assert again.outcome.code == "506"
        assert scene.visible() == ["Good morning"]


async def test_a_duplicate_that_is_our_own_post_counts_as_sent() -> None:
    async with facebook() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_AFTER, SWITCH, answer=envelope(506, "Duplicate"))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize(
    ("counter", "waits"),
    [("app_calls", 15), ("page_calls", 15), ("business_calls", 15 * 60)],
)
async def test_a_rate_limit_waits_as_told_and_burns_nothing(counter: str, waits: int) -> None:
    async with facebook() as (scene, simulated):
        calls = getattr(simulated, counter)
        calls.limit = 0
        began = scene.simulator.clock.now()

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > began:
                calls.limit = 10_000

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(minutes=waits)  # 09:00 to midnight for the business


async def test_almost_used_up_calls_slow_the_preparation_down() -> None:
    async with facebook(media=(picture(),) * 8) as (scene, simulated):
        simulated.business_calls.limit = 10
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.waited == timedelta(seconds=10)  # after the eighth of ten calls


async def test_one_pages_limit_does_not_stop_another() -> None:
    async with facebook() as (scene, simulated):
        ben = simulated.add_page("Ben's garage", "ben", token="EAAben" + "x" * 40)
        simulated.page_calls.limit = 4
        assert isinstance((await drive(scene)).outcome, Sent)
        scene.tokens = replace(scene.tokens, access=Secret("EAAben" + "x" * 40))
        scene.account = replace(scene.account, remote_id=ben.id)
        scene.seen_as = ben.name
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_a_missing_permission_is_a_right_that_a_person_must_give() -> None:
    async with facebook(scopes=("pages_show_list", "pages_read_engagement")) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_a_prepared_post_that_is_gone_is_prepared_again() -> None:
    async with facebook() as (scene, simulated):

        async def throw_away(step: str) -> None:
            if step == "publish":
                scene.before = None
                simulated.posts.clear()

        scene.before = throw_away
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Transient) == 1


async def test_photos_that_facebook_threw_away_are_uploaded_again() -> None:
    async with facebook(media=(picture(),)) as (scene, simulated):

        async def sleep_a_day(step: str) -> None:
            if simulated.photos:
                scene.before = None
                scene.simulator.clock.advance(timedelta(days=1))

        scene.before = sleep_a_day
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len(simulated.photos) == 2


@pytest.mark.parametrize("media", [picture(), film()], ids=["photo", "video"])
async def test_what_is_shown_is_never_made_again_however_old_it_grew(media: MediaItem) -> None:
    async with facebook(media=(media,)) as (scene, _):
        ended = await drive(scene)
        states = [each.state for each in ended.trail if isinstance(each, Prepared)]
        call = AttemptContext(
            account=scene.account,
            tokens=scene.tokens,
            app=scene.app,
            http=scene.http,
            now=scene.simulator.clock.advance(timedelta(days=2)),
            message=scene.message,
            state=states[-1],
        )
        assert await scene.provider.prepare(call) == Prepared(states[-1])
        assert isinstance(await scene.provider.publish(call), Sent)
        assert len(scene.visible()) == 1


def test_what_a_page_will_not_take_is_said_before() -> None:
    from cadenza.core.channels import Channel
    from cadenza.providers.facebook.limits import problems

    page = Channel.FACEBOOK_PAGE
    said = [
        [each.code for each in problems(message)]
        for message in (
            Message(channel=page),
            Message(channel=page, text="😀" * 31_604),
            Message(channel=page, text="a", parts=("b",)),
            Message(channel=page, text="a", link="https://a.example", media=(picture(),)),
            Message(channel=page, media=(film(), picture())),
            Message(channel=page, media=(picture(),) * 11),
        )
    ]
    assert said == [
        ["empty"],
        ["too_long"],
        ["no_threads"],
        ["link_and_media"],
        ["mixed_media"],
        ["too_many_media"],
    ]


async def test_what_validate_lets_through_the_page_takes() -> None:
    async with facebook("😀" * 31_603, media=(picture(),) * 10) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_a_token_echoed_by_the_network_is_not_passed_on() -> None:
    async with facebook() as (scene, simulated):
        words = envelope(100, f"odd {CANARY}", user_words=f"{CANARY} is odd")
        simulated.faults.plan(Kind.ERROR_BEFORE, FEED, answer=words)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], CANARIES)
