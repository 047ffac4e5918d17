"""A campaign, as a person runs it: one mail to an audience, each once, and what became of everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.conftest import Story, told

BODY = "Dear {{first_name}}, bread is ready. {{postal_address}} Stop: {{unsubscribe_url}}"
PLACE = "Ada & Co, Mill Lane 1, Berlin"


@pytest.fixture
async def story(database: str, tmp_path: Path) -> AsyncIterator[Story]:
    async with told(database, tmp_path, public_url="https://cadenza.example.org") as story:
        yield story


async def people(story: Story, *names: str) -> str:
    audience = await story.post("/audiences", 201, name="Regulars")
    ids = [
        (
            await story.post(
                "/contacts",
                201,
                first_name=name,
                addresses=[
                    {"channel": "email", "address": f"{name.lower() or 'nobody'}@example.org"}
                ],
            )
        )["id"]
        for name in names
    ]
    await story.post(f"/audiences/{audience['id']}/members", contact_ids=ids)
    return audience["id"]


async def draft(story: Story, audience: str, **changes: Any) -> str:
    if "smtp" not in story.accounts:
        account = await story.connect("smtp")
        await story.do("PATCH", f"/accounts/{account}", json={"bulk": True})
        await story.do("PATCH", "", json={"postal_address": PLACE})
    template = await story.post("/templates", 201, name="Letter", subject="Bread", body=BODY)
    made = await story.post(
        "/campaigns",
        201,
        **(
            {
                "name": "Autumn letter",
                "audience_id": audience,
                "template_id": template["id"],
                "account_ids": [story.accounts["smtp"]],
            }
            | changes
        ),
    )
    assert made["state"] == "draft"
    return made["id"]


async def ended(story: Story, id_: str) -> Any:
    return await story.until(
        f"/campaigns/{id_}", lambda shown: shown["state"] in ("completed", "failed", "draft")
    )


async def test_everybody_gets_it_once_with_a_way_to_unsubscribe(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", "Ben", "Cy"))
    before = await story.do("POST", f"/campaigns/{id_}/start", params={"dry_run": "true"})
    assert (before["recipients"], before["dry_run"]) == (3, True)
    assert (await story.get(f"/campaigns/{id_}"))["state"] == "draft"
    await story.post(f"/campaigns/{id_}/start")
    shown = await ended(story, id_)
    progress = shown["progress"]
    assert (shown["state"], progress["sent"], progress["total"]) == ("completed", 3, 3), shown
    assert (progress["percent"], progress["waiting"], shown["status"]) == (100, 0, "COMPLETED")
    seen = story.seen("smtp")
    assert sorted(text.split()[1].strip(",") for text in seen) == ["Ada", "Ben", "Cy"]
    assert all("https://cadenza.example.org/u/" in text and PLACE in text for text in seen)
    found = await story.get(f"/campaigns/{id_}/recipients")
    assert [(each["recipient"], each["state"]) for each in found["items"]] == [
        ("ada@example.org", "sent"),
        ("ben@example.org", "sent"),
        ("cy@example.org", "sent"),
    ]


async def test_a_second_start_is_refused(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada"))
    await story.post(f"/campaigns/{id_}/start")
    refused = await story.post(f"/campaigns/{id_}/start", 409)
    assert refused["type"].endswith("wrong_state")
    await ended(story, id_)
    assert len(story.seen("smtp")) == 1


async def test_a_missing_value_refuses_the_start_and_names_who_lacks_it(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", ""))
    await story.post(f"/campaigns/{id_}/start")
    shown = await ended(story, id_)
    assert (shown["state"], shown["reason_code"]) == ("draft", "incomplete"), shown
    assert "first_name missing" in shown["reason"]
    assert story.seen("smtp") == []


async def test_who_lacks_a_value_is_skipped_by_choice_with_the_reason(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", ""), skip_incomplete=True)
    await story.post(f"/campaigns/{id_}/start")
    shown = await ended(story, id_)
    assert (shown["progress"]["sent"], shown["progress"]["skipped"]) == (1, 1), shown
    (skipped,) = (await story.get(f"/campaigns/{id_}/skipped"))["items"]
    assert (skipped["code"], skipped["message"]) == ("incomplete", "first_name missing")


async def test_a_test_takes_the_same_path_and_reaches_no_network(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", "Ben"), mode="test")
    await story.post(f"/campaigns/{id_}/start")
    shown = await ended(story, id_)
    assert (shown["state"], shown["progress"]["sent"]) == ("completed", 2), shown
    assert story.seen("smtp") == []


async def test_mail_to_many_without_a_way_to_unsubscribe_is_refused(story: Story) -> None:
    audience = await people(story, "Ada")
    id_ = await draft(story, audience)
    template = await story.post("/templates", 201, name="Bare", subject="Hi", body="Hello there")
    shown = await story.get(f"/campaigns/{id_}")
    fields = ("name", "audience_id", "account_ids")
    body = {name: shown[name] for name in fields} | {"template_id": template["id"]}
    await story.do("PUT", f"/campaigns/{id_}", json=body)
    refused = await story.post(f"/campaigns/{id_}/start", 422)
    assert "unsubscribe" in refused["detail"]


async def test_a_pause_holds_everything_and_a_resume_sends_the_rest_once(story: Story) -> None:
    names = [f"Guest{n}" for n in range(12)]
    id_ = await draft(story, await people(story, *names), delivery_rate=60)
    await story.post(f"/campaigns/{id_}/start")
    await story.until(f"/campaigns/{id_}", lambda shown: shown["progress"]["sent"] >= 1)
    paused = await story.post(f"/campaigns/{id_}/pause", reason="a wrong link")
    assert (paused["state"], paused["reason"]) == ("paused", "a wrong link")
    await story.post(f"/campaigns/{id_}/pause", 409)
    assert paused["progress"]["waiting"] > 0
    await story.post(f"/campaigns/{id_}/rate", delivery_rate=60_000)
    await story.post(f"/campaigns/{id_}/resume")
    shown = await ended(story, id_)
    assert (shown["state"], shown["progress"]["sent"]) == ("completed", 12), shown
    assert len(story.seen("smtp")) == 12


async def test_a_canceled_campaign_sends_no_more_and_ends_what_waits(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", "Ben", "Cy"), delivery_rate=1)
    await story.post(f"/campaigns/{id_}/start")
    await story.until(f"/campaigns/{id_}", lambda shown: shown["progress"]["sent"] == 1)
    await story.post(f"/campaigns/{id_}/cancel")
    shown = await story.until(f"/campaigns/{id_}", lambda shown: shown["progress"]["canceled"] == 2)
    assert (shown["state"], shown["progress"]["waiting"]) == ("canceled", 0)
    await story.post(f"/campaigns/{id_}/resume", 409)
    assert len(story.seen("smtp")) == 1


async def test_who_joins_later_gets_it_too_and_nobody_twice(story: Story) -> None:
    audience = await people(story, "Ada")
    id_ = await draft(story, audience)
    await story.post(f"/campaigns/{id_}/start")
    await ended(story, id_)
    ben = await story.post(
        "/contacts",
        201,
        first_name="Ben",
        addresses=[{"channel": "email", "address": "ben@example.org"}],
    )
    await story.post(f"/audiences/{audience}/members", contact_ids=[ben["id"]])
    await story.post(f"/campaigns/{id_}/send-to-remaining")
    shown = await ended(story, id_)
    assert (shown["progress"]["sent"], shown["progress"]["total"]) == (2, 2), shown
    assert len(story.seen("smtp")) == 2


async def test_suppressed_people_are_skipped(story: Story) -> None:
    id_ = await draft(story, await people(story, "Ada", "Ben"))
    await story.post("/suppression", 201, kind="address", value="ben@example.org")
    await story.post(f"/campaigns/{id_}/start")
    shown = await ended(story, id_)
    assert (shown["progress"]["sent"], shown["progress"]["skipped"]) == (1, 1), shown
