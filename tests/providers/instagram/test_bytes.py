"""Videos without a public address, sent as bytes; and first comments below posts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.meta.rupload import trusted
from cadenza.providers.outcome import Disconnected, Rejected, Sent
from tests.providers.contract import FAULTS, Scene, drive, fault_name, judge, no_secret_in
from tests.providers.instagram.fixtures import CANARIES, MAKE, PUBLISH, instagram
from tests.providers.pictures import png

BYTES = "POST /ig-api-upload/{version}/{container}"
COMMENTS = "POST /{version}/{media}/comments"
FEED, STORY = Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY


def _without_addresses(scene: Scene) -> None:
    """Take the videos' addresses away; pictures keep theirs."""
    media = tuple(
        replace(item, url=None) if item.mime == "video/mp4" else item
        for item in scene.message.media
    )
    scene.message = replace(scene.message, media=media)


@pytest.mark.parametrize(
    ("files", "channel", "kind"),
    [
        (("waves.mp4",), FEED, "REELS"),
        (("waves.mp4",), STORY, "STORIES"),
        (("sea.jpg", "waves.mp4", "tide.mp4"), FEED, "CAROUSEL"),
    ],
)
@pytest.mark.parametrize("by_facebook", [False, True])
async def test_a_video_without_an_address_goes_out_once(
    files: tuple[str, ...], channel: Channel, kind: str, by_facebook: bool
) -> None:
    async with instagram(files=files, channel=channel, by_facebook=by_facebook) as (
        scene,
        simulated,
    ):
        _without_addresses(scene)
        assert not [p for p in scene.provider.validate(scene.message, scene.account) if p.blocking]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        (entry,) = scene.simulator.visible(simulated)
        assert entry.detail["kind"] == kind
        sent_up = [each for each in simulated.received if "ig-api-upload" in each.path]
        assert len(sent_up) == sum(name.endswith(".mp4") for name in files)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", [MAKE, BYTES, PUBLISH])
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_reels(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        _without_addresses(scene)
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is Kind.EXPIRE:
            assert isinstance(ended.outcome, Disconnected)
        else:
            assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([caplog.text, repr(ended)], CANARIES)


async def test_bytes_that_are_no_video_are_rejected() -> None:
    async with instagram(files=("waves.mp4",)) as (scene, _):
        _without_addresses(scene)

        async def read() -> bytes:
            return png()

        (item,) = scene.message.media
        scene.message = replace(scene.message, media=(replace(item, read=read),))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


async def test_a_picture_still_needs_an_address() -> None:
    async with instagram() as (scene, _):
        (item,) = scene.message.media
        scene.message = replace(scene.message, media=(replace(item, url=None),))
        found = scene.provider.validate(scene.message, scene.account)
        assert [each.code for each in found] == ["media_url"]


@pytest.mark.parametrize(
    ("place", "ours"),
    [
        ("https://rupload.facebook.com/ig-api-upload/v26.0/1", True),
        ("http://127.0.0.1:8080/ig-api-upload/v26.0/1", True),
        ("http://rupload.facebook.com/ig-api-upload/v26.0/1", False),
        ("https://rupload.facebook.com.example.org/1", False),
        ("https://notfacebook.com/1", False),
        ("http://127.0.0.1:9090/1", False),
        ("", False),
    ],
)
def test_a_token_goes_to_metas_hosts_and_the_asked_server_alone(place: str, ours: bool) -> None:
    assert trusted(place, "http://127.0.0.1:8080") is ours


# First comments


async def test_a_first_comment_stands_below_the_post() -> None:
    async with instagram() as (scene, simulated):
        scene.message = replace(scene.message, first_comment="#sea #waves")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.note is None
        assert simulated.comments == [(ended.outcome.remote_id, "#sea #waves")]


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_a_comment_that_fails_is_a_note_and_never_the_deliverys_end(
    kind: Kind, details: dict[str, Any]
) -> None:
    async with instagram() as (scene, simulated):
        scene.message = replace(scene.message, first_comment="#sea")
        fault = simulated.faults.plan(kind, COMMENTS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent)
        if ended.outcome.note is None:
            assert simulated.comments
        else:
            assert "comment" in ended.outcome.note


async def test_a_story_has_no_comments() -> None:
    async with instagram(channel=STORY) as (scene, simulated):
        scene.message = replace(scene.message, first_comment="#sea")
        judge(await drive(scene), scene)
        assert simulated.comments == []
