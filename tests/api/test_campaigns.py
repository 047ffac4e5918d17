"""Campaigns over HTTP: live progress."""

import asyncio
from typing import Any

from tests.api.conftest import Place, furnish_rooms
from tests.api.test_serve import PATIENCE, follow, serving

CAMPAIGNS = "/api/v1/workspaces/home-of-ada/campaigns"
ONE = f"{CAMPAIGNS}/campaign-of-ada"


async def test_progress_comes_when_something_changes_and_ends_with_the_campaign(
    place: Place,
) -> None:
    await place.runtime.operations.run(
        lambda tx, now: furnish_rooms(tx, now, "ada", place.ids["owner.member"])
    )
    seen: list[dict[str, Any]] = []
    async with (
        serving(place, "editor") as browser,
        browser.stream("GET", f"{ONE}/progress") as answer,
        asyncio.timeout(PATIENCE),
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for event in follow(answer):
            seen.append(event["data"])
            if len(seen) == 1:
                said = await browser.post(f"{ONE}/cancel")
                assert said.status_code == 200, said.text
    states = [each["data"]["state"] for each in seen]
    assert states == ["draft", "canceled"]  # and the stream is over
    assert {each["kind"] for each in seen} == {"campaign.progress"}
    assert set(seen[0]["data"]["progress"]) >= {"per_second", "finish_at", "bound_by", "percent"}


async def test_nobody_follows_a_campaign_that_is_not_there(place: Place) -> None:
    async with serving(place, "editor") as browser:
        assert (await browser.get(f"{CAMPAIGNS}/none/progress")).status_code == 404
