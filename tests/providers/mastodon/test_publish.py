"""Mastodon: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks.mastodon_model import Rules
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.redact import Secret
from cadenza.providers.mastodon.errors import PROCESSING
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Forbidden,
    Found,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge, no_secret_in
from tests.providers.mastodon.fixtures import CANARY, POSTS, mastodon
from tests.providers.pictures import film, picture

MEDIA = "POST /api/v2/media"
POLLS = "GET /api/v1/media/{id}"
CONFIRMS = "GET /api/v1/statuses/{id}"


async def test_a_post_goes_out_once_with_its_address() -> None:
    async with mastodon() as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.url == f"{simulated.url()}/@ada/{ended.outcome.remote_id}"


async def test_a_thread_hangs_together_and_each_part_is_there_once() -> None:
    async with mastodon("One", parts=("Two", "Three")) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        entries = scene.simulator.visible(scene.simulated)
        assert [entry.to for entry in entries] == ["", entries[0].remote_id, entries[1].remote_id]


async def test_a_film_is_waited_for_and_uploaded_once() -> None:
    rules = Rules(processing=timedelta(seconds=8))
    async with mastodon(media=(film(),), rules=rules) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert len(simulated.media) == 1
        assert scene.simulator.visible(simulated)[0].detail["media"] == 1


async def test_uploads_that_are_too_old_are_made_again() -> None:
    async with mastodon(media=(picture(),)) as (scene, simulated):
        waited = False

        async def dawdle(step: str) -> None:
            nonlocal waited
            if step == "publish" and not waited:
                waited = True
                simulated.faults.plan(
                    Kind.ERROR_BEFORE, POSTS, answer=say(422, {"error": PROCESSING})
                )
                scene.simulator.clock.advance(timedelta(hours=13))

        scene.before = dawdle
        judge(await drive(scene), scene)
        assert [media.attached for media in simulated.media.values()] == [False, True]


async def test_a_server_without_the_new_endpoint_gets_its_picture_by_the_old() -> None:
    async with mastodon(media=(picture(),), rules=Rules(media_v2=False)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [MEDIA, POLLS, POSTS, CONFIRMS])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    rules = Rules(processing=timedelta(seconds=2))
    async with mastodon(media=(film(),), rules=rules) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is not Kind.EXPIRE:
            assert isinstance(ended.outcome, Sent), ended.trail
        elif route != CONFIRMS:
            assert isinstance(ended.outcome, Disconnected)
        no_secret_in([caplog.text, repr(ended)], [CANARY])


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_thread_goes_on_where_it_stopped(
    kind: Kind, details: dict[str, Any], nth: int
) -> None:
    async with mastodon("One", parts=("Two", "Three")) as (scene, simulated):
        simulated.faults.plan(kind, POSTS, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected if kind is Kind.EXPIRE else Sent)


@pytest.mark.parametrize("step", ["prepare", "publish", "finish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with mastodon(media=(picture(),)) as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Unconfirmed) == 0
        assert ended.returned(Transient) == (0 if step == "finish" else 1)


async def test_an_unconfirmed_send_after_the_keys_hour_is_settled_by_the_list() -> None:
    text = (
        "Hello @bob@example.org & all:\n\nhttps://example.org/a/very/long/path/to/somewhere/else ok"
    )
    async with mastodon(text) as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        await drive(scene)
        call = _later(scene, hours=3)
        assert isinstance(await scene.provider.find_out(call), Found)


async def test_a_post_that_never_arrived_is_absent_after_the_keys_hour() -> None:
    async with mastodon() as (scene, _):
        assert await scene.provider.find_out(_later(scene, hours=3)) == Absent()


async def test_the_same_words_from_before_are_not_taken_for_the_post() -> None:
    async with mastodon() as (scene, _):
        await drive(scene)
        scene.simulator.clock.advance(timedelta(days=1))
        assert await scene.provider.find_out(_later(scene, hours=3)) == Absent()


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with mastodon() as (scene, simulated):
        simulated.posts.limit = 0
        ended_at = scene.simulator.clock.now()

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > ended_at:
                simulated.posts.limit = 300

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.returned(TryLater) == 1
        assert ended.returned(Transient) == 0
        assert ended.waited == timedelta(hours=3)  # 09:00 begins a window of three hours


async def test_one_accounts_limit_does_not_stop_another() -> None:
    async with mastodon() as (scene, simulated):
        simulated.posts.limit = 1
        ben = simulated.add_account("ben")
        assert isinstance((await drive(scene)).outcome, Sent)
        scene.tokens = replace(scene.tokens, access=Secret(ben))
        scene.account = replace(scene.account, remote_id=simulated.person(ben).id)
        scene.seen_as = "ben"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_a_silently_dropped_post_is_noted() -> None:
    async with mastodon() as (scene, simulated):
        simulated.person(CANARY).drops_silently = True
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert "does not show it" in (ended.outcome.note or "")
        assert scene.visible() == []


async def test_two_calls_with_one_key_at_once_make_one_post() -> None:
    async with mastodon() as (scene, simulated):
        simulated.lock_seconds = 0.1
        call = replace(_later(scene, hours=0), key="k1", began_at=scene.simulator.clock.now())
        outcomes = await asyncio.gather(*(scene.provider.publish(call) for _ in range(2)))
        assert sorted(type(each).__name__ for each in outcomes) == ["Sent", "Unconfirmed"]
        found = await scene.provider.find_out(call)
        assert isinstance(found, Found)
        assert Sent(found.remote_id, found.url) in outcomes
        assert scene.visible() == ["Good morning"]


async def test_a_late_first_call_and_its_repeat_make_one_post() -> None:
    async with mastodon() as (scene, simulated):
        fault = simulated.faults.plan(Kind.DELAY, POSTS, seconds=0.8)
        call = replace(_later(scene, hours=0), key="k1", began_at=scene.simulator.clock.now())
        assert isinstance(await scene.provider.publish(call), Unconfirmed)
        assert isinstance(await scene.provider.find_out(call), Found)  # while the first is at work
        await scene.simulator.quiet()
        assert fault.met == 1
        assert scene.visible() == ["Good morning"]


async def test_a_dropped_post_keeps_no_key_and_an_unconfirmed_send_about_it_ends() -> None:
    async with mastodon() as (scene, simulated):
        simulated.person(CANARY).drops_silently = True
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert "does not show it" in (ended.outcome.note or "")


async def test_a_film_that_is_too_large_for_the_server_is_rejected() -> None:
    async with mastodon(media=(film(),), rules=Rules(video_size=10)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


@pytest.mark.parametrize(
    ("given", "codes"), [("private", []), ("", []), (None, []), ("friends", ["visibility"])]
)
async def test_a_visibility_that_no_server_knows_is_told_beforehand(
    given: str | None, codes: list[str]
) -> None:
    async with mastodon() as (scene, _):
        scene.message = replace(scene.message, options={"visibility": given})
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == codes
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected if codes else Sent)


async def test_a_rate_limit_met_while_looking_is_waited_out() -> None:
    async with mastodon() as (scene, simulated):
        simulated.calls.limit = 0
        finding = await scene.provider.find_out(_later(scene, hours=3))
        assert isinstance(finding, CannotTell)
        assert finding.again == timedelta(minutes=5)


async def test_a_missing_scope_is_a_right_that_a_person_must_give() -> None:
    async with mastodon(scopes=("read",)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_a_text_that_is_too_long_after_all_is_rejected_once() -> None:
    async with mastodon("x" * 501) as (scene, _):
        assert [each.code for each in scene.provider.validate(scene.message, scene.account)] == [
            "too_long"
        ]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.attempts == 1


async def test_what_validate_lets_through_the_server_takes() -> None:
    text = "@bob@example.org " + "😀" * 400 + " https://example.org/" + "p" * 300
    async with mastodon(text) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        assert len(scene.visible()) == 1


async def test_a_token_echoed_by_the_server_is_not_passed_on() -> None:
    async with mastodon() as (scene, simulated):
        words = {"error": f"Validation failed: {CANARY} is odd"}
        simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, answer=say(422, words))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], [CANARY])


def _later(scene: Scene, *, hours: float) -> AttemptContext:
    """Make the call that looks for an attempt which began now, some hours on."""
    began_at = scene.simulator.clock.now() - timedelta(minutes=2)
    now = scene.simulator.clock.advance(timedelta(hours=hours))
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=now,
        message=scene.message,
        key="forgotten",
        began_at=began_at,
    )
