"""A network revokes a token: posts are kept, the account is connected again, and a person says what becomes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.media.made import picture
from tests.servers.place import free_port
from tests.stories.conftest import Story, told

SLOTS = {str(day): ["09:00", "17:30"] for day in range(7)}
ENDS = {
    "linkedin": "revoked",
    "threads": "password",
    "instagram": "password",
}  # how each network says that a token is no good any more


@pytest.fixture
async def story(database: str, tmp_path: Path) -> AsyncIterator[Story]:
    """A story whose media have an address: Instagram fetches pictures itself."""
    async with told(database, tmp_path, port=free_port()) as story:
        yield story


def revoke(story: Story, provider: str) -> None:
    """Let the network take back every token that it gave."""
    simulated: Any = story.cast.roles[provider].simulated
    for token in simulated.tokens.values():
        token.trouble = ENDS[provider]


async def sign_in(story: Story, provider: str, **requested: Any) -> dict[str, Any]:
    """Go to the network's page and come back with what it gives."""
    begun = await story.post(f"/connect/{provider}", **requested)
    async with httpx2.AsyncClient() as browser:
        back = await browser.get(begun["redirect"])
    query = parse_qs(urlsplit(back.headers["location"]).query)
    return await story.post("/connect/complete", state=query["state"][0], code=query["code"][0])


async def compose(story: Story, account: str, text: str) -> str:
    """Save a post, with a picture where Instagram needs one; return it."""
    if (await story.get(f"/accounts/{account}"))["provider"] != "instagram":
        return (await story.post("/posts", 201, text=text))["id"]
    file = {"file": ("shop.png", picture(), "image/png")}
    media = await story.do("POST", "/media", 201, files=file, data={"alt": "a blue door"})
    post = await story.post("/posts", 201, text=text, media=[{"media_id": media["id"]}])
    return post["id"]


async def write(story: Story, account: str, text: str, **when: Any) -> str:
    """Write a post for the account; return its delivery."""
    post_id = await compose(story, account, text)
    body = {"post_id": post_id, "accounts": [{"account_id": account}], **when}
    (answer,) = (await story.post("/queue", **body))["answers"]
    assert answer["outcome"] == "queued", answer
    return answer["ids"][0]


def soon(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def lose(story: Story, provider: str) -> tuple[str, list[str], str]:
    """Connect, plan two posts that come due without a connection and one that is due later."""
    (account, *_) = (await sign_in(story, provider))["accounts"]
    await story.do(
        "PUT",
        f"/accounts/{account['id']}/queue/schedule",
        json={"slots": SLOTS, "zone": "Europe/Berlin"},
    )
    later = await write(story, account["id"], "In the queue")
    revoke(story, provider)
    due = [await write(story, account["id"], f"Kept {n}", at=soon(4 + n / 10)) for n in (1, 2)]
    await story.until(
        f"/accounts/{account['id']}", lambda shown: shown["state"] == "needs_reconnect"
    )
    for id_ in due:
        await story.until(
            f"/deliveries/{id_}", lambda shown: datetime.fromisoformat(shown["due_at"]) < now()
        )
    return account["id"], due, later


def now() -> datetime:
    return datetime.now(UTC)


@pytest.mark.parametrize("provider", list(ENDS))
async def test_a_reconnect_lets_new_posts_go_and_asks_about_the_held_ones(
    story: Story, provider: str
) -> None:
    account, due, later = await lose(story, provider)
    back = await sign_in(story, provider, account_id=account)
    assert back["held"] == due
    shown = await story.get(f"/accounts/{account}")
    assert (shown["state"], shown["to_resume"]) == ("connected", 2)
    assert shown["lane"]["parked_until"] is None

    new = await compose(story, account, "Right away")
    await story.post(f"/posts/{new}/publish-now", accounts=[{"account_id": account}])
    await story.until(f"/posts/{new}", lambda shown: shown["state"] == "published")
    assert story.seen(provider) == ["Right away"], "nothing of what is held goes by itself"

    things = {thing["subject_id"]: thing for thing in await story.get("/attention")}
    assert [things[id_]["reason"] for id_ in due] == ["came_due"] * 2
    assert things[due[0]]["steps"] == ["resume", "publish_now", "to_draft"]
    explained = await story.get(f"/deliveries/{due[0]}/explain")
    assert "while the account was disconnected" in explained["gates"]["lane"]["message"]

    await story.post(f"/accounts/{account}/queue/resume", choice="send", minutes_apart=1)
    await story.until(f"/deliveries/{due[0]}", lambda shown: shown["state"] == "sent")
    second = await story.get(f"/deliveries/{due[1]}")
    assert now() < datetime.fromisoformat(second["due_at"]) < now() + timedelta(minutes=1)
    assert sorted(story.seen(provider)) == ["Kept 1", "Right away"]
    assert (await story.get(f"/deliveries/{later}"))["state"] == "scheduled"
    assert (await story.get(f"/accounts/{account}"))["to_resume"] == 0


async def test_held_posts_are_shifted_taken_back_or_sent_one_by_one(story: Story) -> None:
    account, due, later = await lose(story, "linkedin")
    await sign_in(story, "linkedin", account_id=account)
    requested = await story.post(f"/accounts/{account}/resume", 409)
    assert (requested["held"], requested["choices"]) == (due, ["shift", "send", "draft"])

    def step(name: str) -> dict[str, Any]:
        return {"step": name, "subjects": [due[0]]}

    (sent,) = (await story.post("/attention/steps", **step("publish_now")))["answers"]
    assert sent["outcome"] == "done"
    await story.until(f"/deliveries/{due[0]}", lambda shown: shown["state"] == "sent")

    before = (await story.get(f"/deliveries/{later}"))["due_at"]
    answer = await story.post(f"/accounts/{account}/resume", choice="shift")
    assert answer["to_resume"] == 0
    shifted = await story.get(f"/deliveries/{due[1]}")
    assert shifted["due_at"] == before, "it takes the first slot, and what was there moves on"
    assert (await story.get(f"/deliveries/{later}"))["due_at"] > before
    assert story.seen("linkedin") == ["Kept 1"]
