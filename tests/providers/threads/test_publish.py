"""Threads: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.networks.meta_containers import Rules
from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.message import Message
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.providers.threads.limits import problems
from tests.providers.contract import FAULTS, drive, fault_name, judge, no_secret_in
from tests.providers.pictures import picture, png
from tests.providers.threads.fixtures import CANARIES, CANARY, MAKE, NODE, PUBLISH, item, threads


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ((), "TEXT"),
        (("sea.png",), "IMAGE"),
        (("waves.mp4",), "VIDEO"),
        (("sea.png", "waves.mp4"), "CAROUSEL"),
    ],
)
async def test_a_post_of_each_kind_goes_out_once_with_its_address(
    files: tuple[str, ...], kind: str
) -> None:
    async with threads(files=files) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        (entry,) = scene.simulator.visible(simulated)
        assert entry.detail["kind"] == kind
        assert ended.outcome.url == simulated.media[str(ended.outcome.remote_id)].permalink


async def test_a_thread_hangs_together_and_each_part_is_there_once() -> None:
    async with threads("One", parts=("Two", "Three"), files=("sea.png",)) as (scene, _):
        judge(await drive(scene), scene)
        entries = scene.simulator.visible(scene.simulated)
        assert [entry.to for entry in entries] == ["", entries[0].remote_id, entries[1].remote_id]
        assert [entry.detail["kind"] for entry in entries] == ["IMAGE", "TEXT", "TEXT"]


async def test_a_text_needs_no_waiting() -> None:
    async with threads(link="https://example.org/bread") as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.waited == timedelta()


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [MAKE, NODE, PUBLISH])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with threads(files=("sea.png",)) as (scene, simulated):
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
@pytest.mark.parametrize("route", [MAKE, PUBLISH])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_thread_goes_on_where_it_stopped(
    kind: Kind, details: dict[str, Any], route: str, nth: int
) -> None:
    async with threads("One", parts=("Two", "Three")) as (scene, simulated):
        simulated.faults.plan(kind, route, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected if kind is Kind.EXPIRE else Sent)


async def test_a_thread_whose_part_cannot_be_named_stops_with_a_word() -> None:
    async with threads("One", parts=("Two",)) as (scene, simulated):
        simulated.lag = timedelta(days=1)
        simulated.faults.plan(Kind.RESET_AFTER, PUBLISH)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == "no_parent"
        assert scene.visible() == ["One"]


@pytest.mark.parametrize("step", ["prepare", "publish", "finish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with threads() as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Unconfirmed) == 0
        assert ended.returned(Transient) == (0 if step == "finish" else 1)


@pytest.mark.parametrize("code", [4, 9, 200, 368, 80014, 100, 24])
async def test_no_refusal_is_believed_if_the_post_is_out(code: int) -> None:
    async with threads() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_AFTER, PUBLISH, times=3, answer=envelope(code, "No"))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail


async def test_too_early_and_already_are_told_apart_though_both_are_24() -> None:
    async with threads(files=("sea.png",)) as (scene, simulated):

        async def go_back_to_work(step: str) -> None:
            if step == "publish":
                scene.before = None
                (container,) = simulated.containers.values()
                container.ready_at = simulated.now + timedelta(seconds=20)

        scene.before = go_back_to_work
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(NotReady), ended.returned(Transient)) == (1, 0)


async def test_a_container_that_expired_meanwhile_is_made_again() -> None:
    async with threads() as (scene, simulated):

        async def oversleep(step: str) -> None:
            if step == "publish":
                scene.before = None
                scene.simulator.clock.advance(timedelta(hours=25))

        scene.before = oversleep
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len(simulated.containers) == 2


async def test_a_film_that_cannot_be_fetched_is_tried_again_and_told() -> None:
    async with threads(files=("waves.mp4",)) as (scene, simulated):
        simulated.shared.media.clear()
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)
        assert len(simulated.containers) > 1


async def test_a_picture_of_impossible_proportions_is_rejected() -> None:
    async with threads() as (scene, simulated):
        long = item(scene.simulator, simulated, "long.png", png(100, 5))
        scene.message = replace(scene.message, media=(long,))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == "INVALID_ASPEC_RATIO"


async def test_the_parts_of_a_thread_have_a_day_of_their_own() -> None:
    rules = Rules(posts=1, replies=2, again=(24, 0), early=(24, 0))
    async with threads("One", parts=("Two", "Three", "Four"), rules=rules) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(TryLater) > 20  # for the third reply
        assert ended.waited < timedelta(hours=26)


async def test_a_full_day_waits_and_burns_nothing() -> None:
    rules = Rules(posts=1, again=(24, 0), early=(24, 0))
    async with threads(rules=rules) as (scene, _):
        assert isinstance((await drive(scene)).outcome, Sent)
        scene.message = replace(scene.message, text="Good evening")
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(TryLater) > 20
        assert ended.returned(Transient) == 0
        assert scene.visible() == ["Good morning", "Good evening"]


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with threads() as (scene, simulated):
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
        assert ended.waited == timedelta(hours=15)  # to midnight


async def test_a_missing_permission_is_a_right_that_a_person_must_give() -> None:
    async with threads(scopes=("threads_basic",)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_a_restricted_account_is_a_matter_for_a_person() -> None:
    async with threads() as (scene, simulated):
        simulated.members[scene.account.remote_id].trouble = (10, 4279013, "Restricted")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


def test_what_threads_will_not_take_is_said_before() -> None:
    def of(**fields: Any) -> list[str]:
        return [each.code for each in problems(Message(channel=Channel.THREADS, **fields))]

    sea = replace(picture(), url="https://a.example/sea.png")
    links = " ".join(f"https://example.org/{number}" for number in range(6))
    assert of() == ["empty"]
    assert of(text="😀" * 126) == ["too_long"]
    assert of(text="a", parts=("b" * 501,)) == ["too_long"]
    assert of(text=links) == ["too_many_links"]
    assert of(text="a", media=(sea,), link="https://a.example") == ["link_and_media"]
    assert of(media=(sea,) * 21) == ["too_many_media"]
    assert of(media=(replace(sea, url=None),)) == ["media_url"]
    assert of(media=(replace(sea, mime="image/gif"),)) == ["media_kind"]
    assert of(media=(replace(sea, width=1100, height=100),)) == ["media_proportions"]


@pytest.mark.parametrize("text", ["😀" * 125, "é" * 500, "日" * 500, "a" * 496 + "😀"])
async def test_what_validate_lets_through_threads_takes(text: str) -> None:
    async with threads(text) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_too_many_links_are_known_by_their_name() -> None:
    links = " ".join(f"https://example.org/{number}" for number in range(6))
    async with threads(links) as (scene, _):
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == "THREADS_API__LINK_LIMIT_EXCEEDED"


async def test_a_token_echoed_by_the_network_is_not_passed_on() -> None:
    async with threads() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, MAKE, answer=envelope(100, f"odd {CANARY}"))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], CANARIES)
