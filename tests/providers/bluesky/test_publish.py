"""Bluesky: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import Prepared
from cadenza.providers.bluesky.keys import unordered_key
from cadenza.providers.message import MediaItem, MediaKind, Tokens
from cadenza.providers.outcome import (
    Absent,
    Disconnected,
    Found,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from tests.providers.bluesky.fixtures import BLOBS, GETS, PUTS, REFRESHES, RESOLVES, START, bluesky
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge, no_secret_in
from tests.providers.pictures import film, picture


async def test_a_post_goes_out_once_with_its_address() -> None:
    async with bluesky() as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        did = scene.account.remote_id
        key = (ended.outcome.remote_id or "").rpartition("/")[2]
        assert ended.outcome.url == f"https://bsky.app/profile/{did}/post/{key}"


async def test_a_thread_hangs_together_with_pictures_on_its_first_part() -> None:
    media = (picture(), picture("b.png"))
    async with bluesky("One", parts=("Two", "Three"), media=media) as (scene, _):
        judge(await drive(scene), scene)
        entries = scene.simulator.visible(scene.simulated)
        assert [each.to for each in entries] == ["", entries[0].remote_id, entries[1].remote_id]
        assert [each.detail["images"] for each in entries] == [2, 0, 0]


async def test_mentions_tags_and_links_are_marked_and_strangers_stay_plain() -> None:
    text = "✨ @ben.test and @nobody.test on #Über https://example.org/a."
    async with bluesky(text) as (scene, _):
        judge(await drive(scene), scene)
        (entry,) = scene.simulator.visible(scene.simulated)
        marked = [
            text.encode()[each["index"]["byteStart"] : each["index"]["byteEnd"]].decode()
            for each in entry.detail["facets"]
        ]
        assert marked == ["@ben.test", "#Über", "https://example.org/a"]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [BLOBS, RESOLVES, PUTS])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with bluesky("Hi @ben.test", media=(picture(),)) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is Kind.EXPIRE and times == 2 and route != RESOLVES:
            # The fresh session ran out as well; one refresh a delivery is all that is tried.
            assert isinstance(ended.outcome, Disconnected)
        else:
            assert isinstance(ended.outcome, Sent), ended.trail
        _no_token_in(scene, [caplog.text, repr(ended)])


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("route", [PUTS, GETS])
@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_thread_goes_on_where_it_stopped(
    kind: Kind, details: dict[str, Any], route: str, nth: int, once: bool
) -> None:
    async with bluesky("One", parts=("Two @ben.test", "Three")) as (scene, simulated):
        scene.prepares_once = once
        simulated.faults.plan(kind, route, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_an_unconfirmed_send_is_settled_also_when_the_look_fails_first(
    kind: Kind, details: dict[str, Any]
) -> None:
    async with bluesky() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, PUTS)
        simulated.faults.plan(kind, GETS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


@pytest.mark.parametrize("step", ["prepare", "publish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with bluesky(media=(picture(),)) as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.returned(Transient) == 1
        assert ended.returned(Unconfirmed) == 0


async def test_a_session_that_runs_out_between_two_steps_is_renewed_once() -> None:
    async with bluesky(media=(picture(),)) as (scene, simulated):
        simulated.faults.plan(Kind.EXPIRE, PUTS)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Tokens) == 1
        assert len(simulated.blobs) == 1
        uploads = [each for each in simulated.received if each.path.endswith("uploadBlob")]
        assert len(uploads) == 1


async def test_a_lost_reply_to_a_refresh_gets_the_same_pair_again() -> None:
    async with bluesky() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, REFRESHES)
        call = scene.call()
        assert isinstance(await scene.provider.refresh(call), Transient)
        again = await scene.provider.refresh(call)
        assert isinstance(again, Tokens)
        assert len(simulated.sessions.by_refresh) == 2


async def test_a_refresh_after_the_grace_asks_to_connect_again() -> None:
    async with bluesky() as (scene, _):
        assert isinstance(await scene.provider.refresh(scene.call()), Tokens)
        scene.simulator.clock.advance(timedelta(hours=2))
        assert isinstance(await scene.provider.refresh(scene.call()), Disconnected)


async def test_pictures_that_the_server_forgot_are_uploaded_again() -> None:
    async with bluesky(media=(picture(),)) as (scene, simulated):
        first = True

        async def dawdle(step: str) -> None:
            nonlocal first
            if step == "publish" and first:
                first = False
                scene.simulator.clock.advance(timedelta(minutes=61))

        scene.before = dawdle
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len([each for each in simulated.received if each.path.endswith("uploadBlob")]) == 2


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with bluesky() as (scene, simulated):
        simulated.points.limit = 1
        began = scene.simulator.clock.now()

        async def lift(step: str) -> None:
            if scene.simulator.clock.now() > began + timedelta(minutes=1):
                simulated.points.limit = 5000

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.returned(TryLater) == 1
        assert ended.returned(Transient) == 0
        assert ended.waited >= timedelta(hours=1)


async def test_another_record_under_the_key_is_neither_overwritten_nor_taken_for_ours() -> None:
    async with bluesky("Ours") as (scene, simulated):
        prepared = await scene.provider.prepare(scene.call())
        assert isinstance(prepared, Prepared)
        call = replace(scene.call(), state=prepared.state, key="k1")
        assert isinstance(await scene.provider.publish(call), Sent)
        other = replace(call, message=replace(call.message, text="Other"))
        assert isinstance(await scene.provider.publish(other), Unconfirmed)
        assert await scene.provider.find_out(other) == Absent()
        assert isinstance(await scene.provider.find_out(call), Found)
        assert [each["text"] for each in simulated.records.values()] == ["Ours"]


async def test_a_text_that_is_too_long_after_all_is_rejected_once() -> None:
    async with bluesky("x" * 301) as (scene, _):
        assert [each.code for each in scene.provider.validate(scene.message, scene.account)] == [
            "too_long"
        ]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.attempts == 1


async def test_what_validate_lets_through_the_server_takes() -> None:
    text = "👨‍👩‍👧‍👦" * 100 + "é" * 200
    async with bluesky(text, media=(picture(),) * 4) as (scene, _):
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_a_link_becomes_a_card() -> None:
    async with bluesky(link="https://example.org") as (scene, simulated):
        judge(await drive(scene), scene)
        (record,) = simulated.records.values()
        assert record["embed"]["external"]["uri"] == "https://example.org"


@pytest.mark.parametrize("given", [["en"], ["en", "pt-BR", "zh-Hans-CN"], None])
async def test_languages_go_along(given: list[str] | None) -> None:
    async with bluesky() as (scene, simulated):
        scene.message = replace(scene.message, options={"langs": given})
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        (record,) = simulated.records.values()
        assert record.get("langs") == given


@pytest.mark.parametrize("given", ["en", ["en", "de", "fr", "it"], ["English please"], [""]])
async def test_what_is_no_list_of_three_languages_is_told_beforehand(given: Any) -> None:
    async with bluesky() as (scene, _):
        scene.message = replace(scene.message, options={"langs": given})
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["langs"]
        assert isinstance((await drive(scene)).outcome, Rejected)


def _no_token_in(scene: Scene, texts: list[str]) -> None:
    secrets = [scene.tokens.access.reveal()]
    if scene.tokens.refresh:
        secrets.append(scene.tokens.refresh.reveal())
    no_secret_in(texts, secrets)


async def test_the_parts_of_a_thread_have_keys_in_their_order() -> None:
    texts = tuple(f"Part {n}" for n in range(2, 9))
    async with bluesky("Part 1", parts=texts) as (scene, simulated):
        judge(await drive(scene), scene)
        in_order = [simulated.records[uri]["text"] for uri in sorted(simulated.records)]
        assert in_order == ["Part 1", *texts]


async def test_an_attempt_from_before_an_upgrade_is_looked_for_under_its_own_key() -> None:
    async with bluesky() as (scene, _):
        before = replace(scene.call(), key="attempt", state={"made_at": "2026-03-02T09:00:00.000Z"})
        sent = await scene.provider.publish(before)
        assert isinstance(sent, Sent)
        prepared = await scene.provider.prepare(replace(before, key=""))
        assert isinstance(prepared, Prepared)
        found = await scene.provider.find_out(replace(before, state=prepared.state))
        assert isinstance(found, Found)
        assert found.remote_id == sent.remote_id
        assert (sent.remote_id or "").endswith(unordered_key("a1", "attempt", START))


async def test_a_video_goes_out_with_its_description_and_shape() -> None:
    video = replace(film(), alt="Waves", width=1920, height=1080)
    async with bluesky("The sea", media=(video,)) as (scene, simulated):
        assert scene.provider.validate(scene.message, scene.account) == []
        judge(await drive(scene), scene)
        (record,) = simulated.records.values()
        embed = record["embed"]
        assert embed["$type"] == "app.bsky.embed.video"
        assert embed["alt"] == "Waves"
        assert embed["aspectRatio"] == {"width": 1920, "height": 1080}
        assert embed["video"]["mimeType"] == "video/mp4"
        (entry,) = scene.simulator.visible(scene.simulated)
        assert entry.detail["video"]


@pytest.mark.parametrize(
    ("media", "code"),
    [
        ((film(), film("b.mp4")), "mixed_media"),
        ((film(), picture()), "mixed_media"),
        ((replace(film(), mime="video/quicktime"),), "media_kind"),
        ((replace(film(), size=100_000_001),), "media_size"),
        ((replace(film(), alt="x" * 1001),), "alt_too_long"),
        ((replace(picture(), kind=MediaKind.DOCUMENT, mime="application/pdf"),), "media_kind"),
        ((replace(picture(), size=2_000_001),), "media_size"),
    ],
)
async def test_files_that_bluesky_refuses_are_told_before(
    media: tuple[MediaItem, ...], code: str
) -> None:
    async with bluesky(media=media) as (scene, _):
        found = scene.provider.validate(scene.message, scene.account)
        assert [(each.code, each.blocking) for each in found] == [(code, True)]


async def test_files_at_the_limit_of_the_lexicon_are_taken() -> None:
    for item in (replace(film(), size=100_000_000), replace(picture(), size=2_000_000)):
        async with bluesky(media=(item,)) as (scene, _):
            assert not [
                each
                for each in scene.provider.validate(scene.message, scene.account)
                if each.blocking
            ]


async def test_an_animation_is_said_to_stand_still() -> None:
    moving = replace(picture("a.gif"), kind=MediaKind.GIF, mime="image/gif", seconds=2.0)
    async with bluesky(media=(moving,)) as (scene, _):
        (found,) = scene.provider.validate(scene.message, scene.account)
        assert (found.code, found.blocking) == ("stands_still", False)


async def test_a_server_that_takes_smaller_files_refuses_a_video_for_good() -> None:
    async with bluesky("The sea", media=(film(),)) as (scene, simulated):
        simulated.blob_bytes = 50
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
