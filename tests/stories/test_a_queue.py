"""From an empty installation to a week of slots: posts wait their turn, leave once, and tell why not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.stories.conftest import Story

SLOTS = {str(day): ["09:00", "17:30"] for day in range(7)}


def soon(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def test_a_week_of_slots_from_the_first_start_to_the_network(story: Story) -> None:
    account = await story.connect("telegram")
    queue = f"/accounts/{account}/queue"
    given = {"slots": SLOTS, "zone": "Pacific/Auckland", "max_per_day": 9}
    await story.do("PUT", f"{queue}/schedule", json=given)

    posts = [(await story.post("/posts", 201, text=f"Post {n}"))["id"] for n in range(4)]
    answers = [
        (await story.post("/queue", post_id=post, accounts=[{"account_id": account}]))["answers"][0]
        for post in posts
    ]
    assert [answer["outcome"] for answer in answers] == ["queued"] * 4
    assert len({answer["at"] for answer in answers}) == 4
    assert {answer["zone"] for answer in answers} == {"Pacific/Auckland"}

    await _reorder(story, queue, posts)
    await _pause(story, queue)
    await _send_now(story, queue, posts[0])
    await _clear(story, queue)


async def _reorder(story: Story, queue: str, posts: list[str]) -> None:
    shown = await story.get(queue)
    turned = {"verb": "order", "ids": posts[::-1], "revision": shown["revision"]}
    await story.do("POST", f"{queue}/order", json=turned)
    stale = await story.do("POST", f"{queue}/order", 409, json=turned)
    assert [entry["post_id"] for entry in stale["order"]] == posts[::-1]


async def _pause(story: Story, queue: str) -> None:
    await story.post(f"{queue}/pause", reason="the brand is changing")
    (held,) = await _queue_soon(story, "Held for a while")
    explained = await story.until(
        f"/deliveries/{held}/explain", lambda shown: not shown["gates"]["lane"]["passed"]
    )
    assert "the brand is changing" in explained["gates"]["lane"]["message"]
    assert story.seen("telegram") == []
    await story.post(f"{queue}/resume", choice="send", minutes_apart=1)
    await story.until(f"/deliveries/{held}", lambda shown: shown["state"] == "sent")
    assert story.seen("telegram") == ["Held for a while"]


async def _queue_soon(story: Story, text: str) -> list[str]:
    post = await story.post("/posts", 201, text=text)
    (account,) = story.accounts.values()
    requested = {"post_id": post["id"], "accounts": [{"account_id": account}]}
    for seconds in (1.5, 6, 24):  # on a busy machine the first of them may be past when it is read
        (answer,) = (await story.post("/queue", **requested, at=soon(seconds)))["answers"]
        if answer["outcome"] == "queued":
            break
    return answer["ids"]


async def _send_now(story: Story, queue: str, post: str) -> None:
    for _ in range(2):  # a second click is not a second post
        await story.post(f"/posts/{post}/publish-now")
    shown: dict[str, Any] = await story.until(
        f"/posts/{post}", lambda shown: shown["state"] == "published"
    )
    (pill,) = shown["pills"]
    assert pill["state"] == "sent"
    assert story.seen("telegram").count("Post 0") == 1


async def _clear(story: Story, queue: str) -> None:
    cleared = await story.post(f"{queue}/clear")
    assert len(cleared["canceled"]) == 3
    undone = await story.post(f"/queue/clears/{cleared['clear_id']}/undo")
    assert len(undone["restored"]) == 3
