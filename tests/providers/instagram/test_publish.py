"""Instagram: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.networks.meta_containers import Rules
from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import AttemptContext, Prepared
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Message
from cadenza.providers.outcome import (
    Absent,
    Disconnected,
    Forbidden,
    Found,
    NotReady,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge, no_secret_in
from tests.providers.instagram.fixtures import (
    CANARIES,
    CANARY,
    MAKE,
    NODE,
    PUBLISH,
    instagram,
    item,
)
from tests.providers.pictures import jpeg, picture, png

STORY = Channel.INSTAGRAM_STORY
FEED = Channel.INSTAGRAM_FEED


@pytest.mark.parametrize(
    ("files", "channel", "kind"),
    [
        (("sea.jpg",), FEED, "IMAGE"),
        (("waves.mp4",), FEED, "REELS"),
        (("sea.jpg", "waves.mp4", "sky.jpg"), FEED, "CAROUSEL"),
        (("sea.jpg",), STORY, "STORIES"),
        (("waves.mp4",), STORY, "STORIES"),
    ],
)
async def test_a_post_of_each_kind_goes_out_once_with_its_address(
    files: tuple[str, ...], channel: Channel, kind: str
) -> None:
    async with instagram(files=files, channel=channel) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        (entry,) = scene.simulator.visible(simulated)
        assert entry.detail["kind"] == kind
        assert ended.outcome.url == simulated.media[str(ended.outcome.remote_id)].permalink
        assert ended.attempts == 1


@pytest.mark.parametrize("channel", [FEED, STORY])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [MAKE, NODE, PUBLISH])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind,
    details: dict[str, Any],
    route: str,
    times: int,
    channel: Channel,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with instagram(channel=channel) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is Kind.EXPIRE:
            assert isinstance(ended.outcome, Disconnected)
        else:
            assert isinstance(ended.outcome, Sent), ended.trail
            assert ended.outcome.remote_id in simulated.media
        no_secret_in([caplog.text, repr(ended)], CANARIES)


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_makes_two_carousels(kind: Kind, details: dict[str, Any], nth: int) -> None:
    async with instagram(files=("sea.jpg", "sky.jpg"), by_facebook=True) as (scene, simulated):
        simulated.faults.plan(kind, MAKE, nth=nth, **details)
        simulated.faults.plan(kind, PUBLISH, **details)
        ended = await drive(scene)
        judge(ended, scene)
        if kind is not Kind.EXPIRE:  # twice: the second ends it, as one renewal a delivery is due
            assert isinstance(ended.outcome, Sent), ended.trail


@pytest.mark.parametrize("route", [MAKE, NODE, PUBLISH])
async def test_a_pages_token_that_ends_midway_is_renewed_once_and_the_post_goes_on(
    route: str,
) -> None:
    async with instagram(by_facebook=True) as (scene, simulated):
        simulated.faults.plan(Kind.EXPIRE, route)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Disconnected) == 1
        assert len(simulated.containers) == 1


@pytest.mark.parametrize("step", ["prepare", "publish", "finish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with instagram() as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Unconfirmed) == 0
        assert ended.returned(Transient) == (0 if step == "finish" else 1)


@pytest.mark.parametrize("again", [(24, 2207006), (100, 0), (9, 0), (-1, 2207032), (1, 0)])
async def test_a_repeated_publishing_is_known_for_what_it_is(again: tuple[int, int]) -> None:
    async with instagram(rules=Rules(again=again)) as (scene, simulated):
        simulated.faults.plan(Kind.TWICE, PUBLISH)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.outcome.remote_id in simulated.media


@pytest.mark.parametrize("code", [4, 9, 190, 200, 368, 80002, 9007, 100, 24])
async def test_no_refusal_is_believed_if_the_post_is_out(code: int) -> None:
    async with instagram(by_facebook=True) as (scene, simulated):
        times = 1 if code == 190 else 3  # a token is renewed once
        simulated.faults.plan(Kind.ERROR_AFTER, PUBLISH, times=times, answer=envelope(code, "No"))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail


async def test_publishing_too_early_waits_and_burns_nothing() -> None:
    async with instagram() as (scene, simulated):
        early = envelope(9007, "Media ID is not available", 2207027)
        simulated.faults.plan(Kind.ERROR_BEFORE, PUBLISH, times=2, answer=early)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(NotReady), ended.returned(Transient)) == (2, 0)


async def test_a_container_that_expired_meanwhile_is_made_again() -> None:
    async with instagram() as (scene, simulated):

        async def oversleep(step: str) -> None:
            if step == "publish":
                scene.before = None
                scene.simulator.clock.advance(timedelta(hours=25))

        scene.before = oversleep
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len(simulated.containers) == 2


async def test_a_container_that_is_gone_is_made_again_after_a_look_at_the_list() -> None:
    async with instagram() as (scene, simulated):

        async def lose(step: str) -> None:
            if step == "publish":
                scene.before = None
                simulated.containers.clear()

        gone = envelope(24, "The requested resource does not exist", 2207006)
        simulated.faults.plan(Kind.ERROR_BEFORE, NODE, nth=2, times=2, answer=gone)
        scene.before = lose
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(Absent) == 1


async def test_a_post_that_is_out_is_reported_even_if_no_list_names_it() -> None:
    async with instagram() as (scene, simulated):
        simulated.lag = timedelta(days=1)
        simulated.faults.plan(Kind.RESET_AFTER, PUBLISH)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.remote_id is None


async def test_the_same_words_from_before_are_not_taken_for_the_post() -> None:
    async with instagram() as (scene, _):
        await drive(scene)
        scene.simulator.clock.advance(timedelta(hours=1))
        assert await scene.provider.find_out(_look(scene)) == Absent()


async def test_a_film_that_cannot_be_fetched_is_told() -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        simulated.shared.media.clear()
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)


async def test_a_picture_that_cannot_be_fetched_gets_three_chances() -> None:
    async with instagram() as (scene, simulated):
        simulated.shared.media.clear()
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == "9004/2207052"
        assert len([each for each in simulated.received if each.method == "POST"]) == 3
        assert ended.attempts == 0


async def test_a_picture_that_was_away_for_a_moment_goes_out() -> None:
    async with instagram() as (scene, simulated):
        kept = dict(simulated.shared.media)
        simulated.shared.media.clear()

        async def bring_back(step: str) -> None:
            if simulated.received:
                simulated.shared.media.update(kept)

        scene.before = bring_back
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_a_full_day_waits_and_burns_nothing() -> None:
    async with instagram(rules=Rules(posts=1)) as (scene, _):
        assert isinstance((await drive(scene)).outcome, Sent)
        scene.message = replace(scene.message, text="Good evening")
        scene.expected = ("Good morning", "Good evening")
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(TryLater) > 20
        assert ended.returned(Transient) == 0
        assert scene.visible() == ["Good morning", "Good evening"]


async def test_one_accounts_full_day_does_not_stop_another() -> None:
    async with instagram(rules=Rules(posts=1)) as (scene, simulated):
        ben = simulated.add_account("ben", token="IGben" + "x" * 40)
        assert isinstance((await drive(scene)).outcome, Sent)
        scene.tokens = replace(scene.tokens, access=Secret("IGben" + "x" * 40))
        scene.account = replace(scene.account, remote_id=ben.id)
        scene.seen_as = "ben"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with instagram() as (scene, simulated):
        simulated.business_calls.limit = 0
        began = scene.simulator.clock.now()

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > began:
                simulated.business_calls.limit = 10_000

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(hours=15, seconds=5)  # to midnight, and the first look


async def test_a_restricted_account_is_a_matter_for_a_person() -> None:
    async with instagram() as (scene, simulated):
        simulated.members[scene.account.remote_id].trouble = (4, 2207051, "Action is blocked")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)
        assert ended.outcome.code == "4/2207051"


async def test_a_picture_of_the_wrong_kind_is_rejected_once() -> None:
    async with instagram() as (scene, simulated):
        wrong = item(scene.simulator, simulated, "sea.png", png())
        scene.message = replace(scene.message, media=(wrong,))
        assert "media_kind" in [
            e.code for e in scene.provider.validate(scene.message, scene.account)
        ]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.attempts == 0


def test_what_instagram_will_not_take_is_said_before() -> None:
    from cadenza.providers.instagram.limits import problems

    sea = replace(picture(alt=""), mime="image/jpeg", url="https://a.example/sea.jpg")
    tall = replace(sea, width=400, height=1000)
    said = [
        [each.code for each in problems(message)]
        for message in (
            Message(channel=FEED, text="a"),
            Message(channel=FEED, text="😀" * 1101, media=(sea,)),
            Message(channel=FEED, text="#a " * 31, media=(sea,)),
            Message(channel=FEED, text="@a " * 21, media=(sea,)),
            Message(channel=FEED, media=(tall,)),
            Message(channel=FEED, media=(sea,) * 11),
            Message(channel=FEED, media=(replace(sea, url=None),)),
            Message(channel=FEED, media=(sea,), parts=("b",)),
            Message(channel=STORY, media=(sea, sea)),
            Message(channel=STORY, text="a", media=(tall,)),
        )
    ]
    assert said == [
        ["no_media"],
        ["too_long"],
        ["hashtags"],
        ["mentions"],
        ["media_proportions"],
        ["too_many_media"],
        ["media_url"],
        ["no_threads"],
        ["story_media"],
        ["story_text"],
    ]


async def test_what_validate_lets_through_instagram_takes() -> None:
    text = "#a " * 30 + "@b " * 20 + "😀" * 1000
    async with instagram(text) as (scene, simulated):
        wide = item(scene.simulator, simulated, "wide.jpg", jpeg(1910, 1000))
        scene.message = replace(scene.message, media=(replace(wide, width=1910, height=1000),))
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_a_token_echoed_by_the_network_is_not_passed_on() -> None:
    async with instagram() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, MAKE, answer=envelope(100, f"odd {CANARY}"))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], CANARIES)


async def test_what_is_out_is_never_made_again_however_old_it_grew() -> None:
    async with instagram() as (scene, simulated):
        began = scene.simulator.clock.now()
        await drive(scene)
        scene.simulator.clock.advance(timedelta(days=2))
        state = {"part": 0, "since": began.isoformat(), "whole": next(iter(simulated.containers))}
        call = replace(_look(scene), state=state)
        assert await scene.provider.prepare(call) == Prepared(state)
        assert isinstance(await scene.provider.publish(call), Sent)
        assert (len(simulated.containers), len(scene.visible())) == (1, 1)


async def test_one_that_vanishes_again_and_again_costs_an_attempt() -> None:
    async with instagram() as (scene, simulated):
        gone = envelope(24, "The requested resource does not exist", 2207006)
        simulated.faults.plan(Kind.ERROR_BEFORE, NODE, times=999, answer=gone)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)
        assert ended.attempts == 0
        assert ended.waited > timedelta(minutes=1)


async def test_a_part_that_was_not_prepared_is_not_published() -> None:
    async with instagram() as (scene, simulated):
        call = replace(_look(scene), state={"part": 1, "whole": "17890000000000000"})
        assert isinstance(await scene.provider.publish(call), Transient)
        assert simulated.received == []


async def test_an_unconfirmed_send_can_be_settled_hours_later() -> None:
    async with instagram() as (scene, simulated):
        began = scene.simulator.clock.now()
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        container = next(iter(simulated.containers))
        call = replace(_look(scene), state={"whole": container}, began_at=began)
        found = await scene.provider.find_out(call)
        assert isinstance(found, Found)
        assert found.remote_id == ended.outcome.remote_id


def _look(scene: Scene) -> AttemptContext:
    now = scene.simulator.clock.advance(timedelta(minutes=5))
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=now,
        message=scene.message,
        state={},
        began_at=now - timedelta(minutes=2),
    )
