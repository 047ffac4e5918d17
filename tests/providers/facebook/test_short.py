"""Reels, stories and first comments of a page: one visible or none and a clear word, never two."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.networks.facebook import SCOPES
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import Prepared
from cadenza.providers.facebook import PROVIDER
from cadenza.providers.message import AccountRef, MediaItem, Message
from cadenza.providers.outcome import Found, Sent, Transient, Unconfirmed
from tests.providers.contract import (
    FAULTS,
    Scene,
    drive,
    fault_name,
    judge,
    no_secret_in,
    patient_client,
)
from tests.providers.facebook.fixtures import CANARIES, NODE, facebook
from tests.providers.pictures import film, picture

REELS = "POST /{version}/{page}/video_reels"
BYTES = "POST /video-upload/{version}/{video}"
VIDEO_STORIES = "POST /{version}/{page}/video_stories"
PHOTO_STORIES = "POST /{version}/{page}/photo_stories"
PHOTOS = "POST /{version}/{page}/photos"
COMMENTS = "POST /{version}/{post}/comments"


def _as(scene: Scene, what: str) -> None:
    scene.message = replace(scene.message, options={"as": what})
    if what == "story":
        scene.expected = ("",)


@pytest.mark.parametrize(
    ("what", "item"), [("reel", film()), ("story", film()), ("story", picture())]
)
async def test_each_goes_out_once(what: str, item: MediaItem) -> None:
    async with facebook(media=(item,)) as (scene, simulated):
        _as(scene, what)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        (entry,) = scene.simulator.visible(simulated)
        assert entry.detail["kind"] == what
        assert not [each for each in simulated.received if each.path.endswith(("/feed", "/videos"))]


@pytest.mark.parametrize("nth", [1, 2])  # the start, the last word
@pytest.mark.parametrize("what", ["reel", "story"])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_shows_a_film_twice(
    kind: Kind, details: dict[str, Any], what: str, nth: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        _as(scene, what)
        route = REELS if what == "reel" else VIDEO_STORIES
        fault = simulated.faults.plan(kind, route, nth=nth, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], CANARIES)


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_while_bytes_go_up_shows_anything_twice(
    kind: Kind, details: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        _as(scene, "reel")
        fault = simulated.faults.plan(kind, BYTES, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], CANARIES)


@pytest.mark.parametrize("route", [PHOTOS, PHOTO_STORIES])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_photo_story_is_shown_once_or_left_to_a_person(
    kind: Kind, details: dict[str, Any], route: str
) -> None:
    async with facebook(media=(picture(),)) as (scene, simulated):
        _as(scene, "story")
        fault = simulated.faults.plan(kind, route, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent | Unconfirmed), ended.trail
        if route == PHOTOS:
            assert isinstance(ended.outcome, Sent)


async def test_the_bytes_go_to_no_stranger() -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        _as(scene, "reel")
        answer = {"video_id": "1", "upload_url": "https://facebook.com.example.org/up"}
        simulated.faults.plan(Kind.ERROR_BEFORE, REELS, status=200, answer=answer)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)  # prepared again, and then at the right place


# First comments


async def test_a_first_comment_stands_below_the_post() -> None:
    async with facebook() as (scene, simulated):
        scene.message = replace(scene.message, first_comment="More at example.org")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.note is None
        assert simulated.comments == [(ended.outcome.remote_id, "More at example.org")]


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_comment_that_fails_is_a_note_and_never_the_deliverys_end(
    kind: Kind, details: dict[str, Any]
) -> None:
    async with facebook() as (scene, simulated):
        scene.message = replace(scene.message, first_comment="More")
        fault = simulated.faults.plan(kind, COMMENTS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent)
        if kind is not Kind.TWICE:
            assert len(simulated.comments) <= 1
        if ended.outcome.note is None:
            assert simulated.comments
        else:
            assert "comment" in ended.outcome.note


async def test_without_the_right_the_comment_ends_in_a_note() -> None:
    async with facebook(scopes=SCOPES[:3]) as (scene, simulated):
        scene.message = replace(scene.message, first_comment="More")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert "first comment" in str(ended.outcome.note)
        assert simulated.comments == []


@pytest.mark.parametrize("item", [None, film()], ids=["words", "video"])
async def test_an_unconfirmed_send_is_looked_into_with_time_though_a_comment_follows(
    item: MediaItem | None,
) -> None:
    async with facebook(media=(item,) if item else ()) as (scene, simulated):
        ended = await drive(scene)
        (state,) = [each.state for each in ended.trail if isinstance(each, Prepared)]
        scene.message = replace(scene.message, first_comment="More")
        simulated.faults.plan(Kind.DELAY, NODE, seconds=1.8)
        async with patient_client(simulated) as http:
            found = await scene.provider.find_out(replace(scene.call(), http=http, state=state))
        assert isinstance(found, Found), found


async def test_a_photo_story_that_waited_long_is_uploaded_again() -> None:
    async with facebook(media=(picture(),)) as (scene, simulated):
        _as(scene, "story")

        async def sleep_a_day(step: str) -> None:
            if simulated.photos:
                scene.before = None
                scene.simulator.clock.advance(timedelta(days=1))

        scene.before = sleep_a_day
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(Transient) == 0
        assert len(simulated.photos) == 2


def test_what_cannot_be_a_reel_or_a_story_is_said_before() -> None:
    page = AccountRef(id="a1", remote_id="1")
    cases = [
        ("reel", (picture(),), ["reel"]),
        ("reel", (), ["reel"]),
        ("story", (picture(), picture()), ["story"]),
        ("poem", (picture(),), ["as"]),
        ("reel", (film(),), []),
        ("story", (picture(),), []),
    ]
    for what, media, codes in cases:
        text = "Words" if what == "reel" else ""
        message = Message(
            channel=Channel.FACEBOOK_PAGE, text=text, media=media, options={"as": what}
        )
        assert [each.code for each in PROVIDER.validate(message, page)] == codes, what
