"""Without a worker: an outside cron asks, and what is due leaves, once, with its picture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tests.media.made import picture
from tests.stories.conftest import PATIENCE, Story, told


@pytest.fixture
async def story(database: str, tmp_path: Path) -> AsyncIterator[Story]:
    async with told(database, tmp_path, works=False) as story:
        yield story


async def test_a_cron_sends_what_is_due_with_its_picture_and_nothing_twice(story: Story) -> None:
    account = await story.connect("telegram")
    file = {"file": ("shop.png", picture(), "image/png")}
    uploaded = await story.do("POST", "/media", 201, files=file, data={"alt": "a blue door"})
    post = await story.post(
        "/posts", 201, text="We open at nine.", media=[{"media_id": uploaded["id"]}]
    )
    await story.post(f"/posts/{post['id']}/publish-now", accounts=[{"account_id": account}])
    key = (await story.post("/keys", 201, name="cron", scopes=["publishing:run"]))["key"]
    assert story.seen("telegram") == []

    async with httpx2.AsyncClient(
        base_url=story.ada.base_url,
        headers={"authorization": f"Bearer {key}"},
        timeout=2 * PATIENCE,
    ) as cron:
        for ran in (1, 0):
            answer = await cron.post("/api/v1/publishing/run", params={"seconds": PATIENCE})
            assert answer.status_code == 200, answer.text
            assert (answer.json()["ran"], answer.json()["complete"]) == (ran, True), answer.text
    shown = await story.get(f"/posts/{post['id']}")
    assert shown["state"] == "published", shown
    simulated = story.cast.roles["telegram"].simulated
    (entry,) = story.cast.simulator.visible(simulated)
    assert (entry.text, entry.detail["media"]) == ("We open at nine.", 1)
