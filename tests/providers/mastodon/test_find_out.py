"""After a lost reply: look at the account's own posts first, and trust a key only where it is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.demo.networks.mastodon_model import Rules, like_gotosocial
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import AttemptContext
from cadenza.providers.mastodon import publish
from cadenza.providers.mastodon.auth import APP_NAME
from cadenza.providers.outcome import Absent, CannotTell, Disconnected, Found, Sent, Unconfirmed
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge
from tests.providers.mastodon.fixtures import CANARY, POSTS, mastodon
from tests.providers.pictures import picture

LIST = "GET /api/v1/accounts/{id}/statuses"
NODEINFO = "GET /.well-known/nodeinfo"
# A request that a proxy repeats is two posts where no key is kept: nobody can help that.
MET = [(kind, details) for kind, details in FAULTS if kind is not Kind.TWICE]
OTHERS = [
    like_gotosocial(),
    Rules(software="friendica", keeps_keys=False, page=20, hides_reblogs=False),
    Rules(software="", keeps_keys=False),  # tells nothing about itself
]


def _name(rules: object) -> str:
    return getattr(rules, "software", "") or "unnamed"


@pytest.mark.parametrize("rules", OTHERS, ids=_name)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(("kind", "details"), MET, ids=fault_name)
async def test_a_server_that_ignores_keys_shows_one_post(
    kind: Kind, details: dict[str, Any], times: int, rules: Rules
) -> None:
    async with mastodon("Hello **all**", rules=rules) as (scene, simulated):
        simulated.faults.plan(kind, POSTS, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected if kind is Kind.EXPIRE else Sent), ended.trail


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("media", [(), (picture(),)], ids=["text", "picture"])
async def test_a_thread_goes_on_there_too(nth: int, media: tuple[Any, ...]) -> None:
    async with mastodon("One", parts=("Two", "One"), media=media, rules=like_gotosocial()) as (
        scene,
        simulated,
    ):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS, nth=nth)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize("rules", [Rules(), *OTHERS], ids=_name)
async def test_what_is_listed_is_found_without_posting(rules: Rules) -> None:
    async with mastodon(rules=rules) as (scene, simulated):
        call = await _lose(scene, simulated)
        found = await scene.provider.find_out(call)
        assert isinstance(found, Found)
        assert [each.text for each in simulated.statuses.values()] == ["Good morning"]
        assert _posts(simulated) == 1


async def test_a_post_that_mastodon_does_not_list_yet_is_found_by_its_key() -> None:
    async with mastodon() as (scene, simulated):
        simulated.lag = timedelta(hours=1)
        found = await scene.provider.find_out(await _lose(scene, simulated))
        assert isinstance(found, Found)
        assert scene.visible() == ["Good morning"]


@pytest.mark.parametrize("software", ["gotosocial", "pleroma", "pixelfed", ""])
async def test_a_key_is_not_repeated_on_trust(software: str) -> None:
    async with mastodon(rules=Rules(software=software, keeps_keys=False)) as (scene, simulated):
        call = _call(scene)
        assert await scene.provider.find_out(call) == Absent()
        assert _posts(simulated) == 0


async def test_a_key_is_not_repeated_while_the_server_does_not_say_what_it_is() -> None:
    async with mastodon() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, NODEINFO, status=502)
        found = await scene.provider.find_out(_call(scene))
        assert isinstance(found, CannotTell)
        assert found.again is not None
        assert _posts(simulated) == 0


async def test_a_key_is_not_repeated_long_after_sending_was_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publish, "REPEAT_WITHIN", -1.0)
    async with mastodon() as (scene, simulated):
        found = await scene.provider.find_out(_call(scene))
        assert isinstance(found, CannotTell)
        assert found.again is not None
        assert _posts(simulated) == 0


async def test_a_list_that_cannot_be_read_proves_nothing() -> None:
    async with mastodon(rules=like_gotosocial()) as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, LIST, status=500)
        assert isinstance(await scene.provider.find_out(_call(scene)), CannotTell)
        assert _posts(simulated) == 0


async def test_a_busy_account_is_read_page_by_page() -> None:
    rules = Rules(software="friendica", keeps_keys=False, page=5, hides_reblogs=False)
    async with mastodon(rules=rules) as (scene, simulated):
        call = await _lose(scene, simulated)
        for number in range(12):
            scene.simulator.clock.advance(1)
            simulated.post_by(CANARY, f"Other thing {number}", app="Tusky", reblog=number % 2 == 0)
        assert isinstance(await scene.provider.find_out(call), Found)
        simulated.remove(next(iter(simulated.statuses)))
        assert await scene.provider.find_out(call) == Absent()


async def test_an_account_that_posts_without_end_cannot_be_told() -> None:
    async with mastodon(rules=replace(like_gotosocial(), page=5)) as (scene, simulated):
        for number in range(60):
            scene.simulator.clock.advance(timedelta(milliseconds=10))
            simulated.post_by(CANARY, f"Other thing {number}", app="Tusky")
        assert isinstance(await scene.provider.find_out(_call(scene)), CannotTell)


async def test_a_boost_of_the_same_words_is_not_the_post() -> None:
    rules = replace(like_gotosocial(), hides_reblogs=False)
    async with mastodon(rules=rules) as (scene, simulated):
        simulated.post_by(CANARY, "Good morning", app=APP_NAME, reblog=True)
        assert await scene.provider.find_out(_call(scene)) == Absent()


async def test_the_same_words_by_another_app_are_left_to_a_person() -> None:
    async with mastodon(rules=like_gotosocial()) as (scene, simulated):
        simulated.post_by(CANARY, "Good morning", app="Tusky")
        found = await scene.provider.find_out(_call(scene))
        assert isinstance(found, CannotTell)
        assert "Tusky" in found.message


async def test_the_same_words_by_another_app_do_not_keep_mastodon_from_telling() -> None:
    async with mastodon() as (scene, simulated):
        call = await _lose(scene, simulated)
        simulated.post_by(CANARY, "Good morning", app="Tusky")
        first = next(iter(simulated.statuses))
        found = await scene.provider.find_out(call)
        assert isinstance(found, Found)
        assert found.remote_id == first


async def test_a_text_that_the_server_dressed_otherwise_is_found_by_its_source() -> None:
    rules = replace(like_gotosocial(), markdown=True)
    text = "**All**, read [it](https://example.org/a/b/c/d/e/f) at\n* home\n* work\n* once"
    async with mastodon(text, rules=rules) as (scene, simulated):
        call = await _lose(scene, simulated)
        assert isinstance(await scene.provider.find_out(call), Found)


async def test_a_text_dressed_otherwise_without_a_source_is_left_to_a_person() -> None:
    rules = replace(like_gotosocial(), markdown=True, tells_source=False)
    async with mastodon("Hello **all** of you", rules=rules) as (scene, simulated):
        call = await _lose(scene, simulated)
        assert isinstance(await scene.provider.find_out(call), CannotTell)
        assert _posts(simulated) == 1


async def test_a_like_text_is_told_apart_by_its_source() -> None:
    async with mastodon("Good morning, Ada", rules=like_gotosocial()) as (scene, simulated):
        simulated.post_by(CANARY, "Good morning, Ben", app=APP_NAME)
        assert await scene.provider.find_out(_call(scene)) == Absent()


async def test_pictures_without_words_are_told_apart_by_their_files() -> None:
    async with mastodon("", media=(picture(),), rules=like_gotosocial()) as (scene, simulated):
        scene.expected = ("",)
        simulated.post_by(CANARY, "", app=APP_NAME)
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        (status,) = [each for each in simulated.statuses.values() if each.media]
        assert ended.outcome.remote_id == status.id


async def test_a_server_whose_clock_is_behind_does_not_hide_its_post() -> None:
    async with mastodon(rules=like_gotosocial()) as (scene, simulated):
        call = await _lose(scene, simulated)
        for status in simulated.statuses.values():
            status.at -= timedelta(minutes=20)
        assert isinstance(await scene.provider.find_out(call), CannotTell)


async def test_a_post_that_was_made_and_deleted_is_not_sent_again() -> None:
    async with mastodon() as (scene, simulated):
        call = await _lose(scene, simulated)
        simulated.remove(next(iter(simulated.statuses)))
        found = await scene.provider.find_out(call)
        assert isinstance(found, CannotTell)
        assert "deleted" in found.message


def _posts(simulated: SimulatedMastodon) -> int:
    return sum(
        call.method == "POST" and call.path.endswith("/statuses") for call in simulated.received
    )


def _call(scene: Scene) -> AttemptContext:
    now = scene.simulator.clock.now()
    return replace(scene.call(), key="k1", began_at=now, now=now + timedelta(minutes=2))


async def _lose(scene: Scene, simulated: SimulatedMastodon) -> AttemptContext:
    """Post, lose the answer, and return the call that looks for it."""
    call = _call(scene)
    simulated.faults.plan(Kind.RESET_AFTER, POSTS)
    assert isinstance(await scene.provider.publish(call), Unconfirmed)
    return call
