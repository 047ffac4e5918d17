"""What one may choose of a post on Instagram arrives as Instagram reads it, whoever wrote it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest

from cadenza.core.channels import Channel
from cadenza.demo.networks.instagram import SimulatedInstagram
from cadenza.providers.outcome import Sent
from tests.providers.contract import drive, judge
from tests.providers.instagram.fixtures import instagram

TAGS = [{"username": "ben", "x": 0.5, "y": 0.5}]


def _made(simulated: SimulatedInstagram) -> dict[str, list[str]]:
    (made,) = [each for each in simulated.received if each.path.endswith("/media")]
    return parse_qs(made.body.decode())


@pytest.mark.parametrize(
    ("chosen", "arrives"),
    [
        ({"share_to_feed": False}, {"share_to_feed": "false"}),
        ({"share_to_feed": True}, {"share_to_feed": "true"}),
        ({"share_to_feed": "false"}, {"share_to_feed": "false"}),
        ({"thumb_offset": 0, "location_id": 77}, {"thumb_offset": "0", "location_id": "77"}),
        ({"collaborators": ["ada", "ben"]}, {"collaborators": '["ada", "ben"]'}),
        ({"collaborators": "ada, @ben"}, {"collaborators": '["ada", "ben"]'}),
        ({"collaborators": '["ada"]'}, {"collaborators": '["ada"]'}),
        ({"cover_url": "", "location_id": None, "collaborators": []}, {}),
    ],
)
async def test_a_reels_choices_arrive_as_instagram_reads_them(
    chosen: dict[str, Any], arrives: dict[str, str]
) -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        scene.message = replace(scene.message, options=chosen)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        fields = _made(simulated)
        assert {name: fields[name][0] for name in chosen if name in fields} == arrives


@pytest.mark.parametrize("tags", [TAGS, json.dumps(TAGS)], ids=["list", "text"])
async def test_tags_arrive_as_a_list(tags: Any) -> None:
    async with instagram() as (scene, simulated):
        scene.message = replace(scene.message, options={"user_tags": tags})
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert json.loads(_made(simulated)["user_tags"][0]) == TAGS


async def test_a_storys_description_is_left_out_and_that_is_said() -> None:
    async with instagram(channel=Channel.INSTAGRAM_STORY, text="") as (scene, simulated):
        said = scene.provider.validate(scene.message, scene.account)
        assert [(each.code, each.blocking) for each in said] == [("story_alt", False)]
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert "alt_text" not in _made(simulated)


@pytest.mark.parametrize("many", [["a", "b", "c", "d"], "a,b,c,d"])
async def test_more_than_three_collaborators_are_too_many(many: Any) -> None:
    async with instagram() as (scene, _):
        scene.message = replace(scene.message, options={"collaborators": many})
        (problem,) = scene.provider.validate(scene.message, scene.account)
        assert (problem.code, problem.field, problem.blocking) == ("collaborators", "options", True)
