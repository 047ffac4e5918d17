"""From a rule to the networks: drafts that wait for a person, partial failure, retry, a lost account."""

from __future__ import annotations

from datetime import UTC, datetime

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer
from tests.stories.conftest import Story


async def test_a_rules_drafts_wait_for_a_person_then_leave_on_every_channel(story: Story) -> None:
    accounts = [await story.connect(provider) for provider in ("telegram", "slack")]
    category = await story.post(
        "/categories", 201, name="Bakery", hashtags=["bread"], copy="Fresh from the oven"
    )
    rule = {
        "name": "Every morning",
        "category_id": category["id"],
        "zone": "Europe/Berlin",
        "pattern": {"kind": "daily", "times": ["09:00"]},
        "targets": [{"account_id": account} for account in accounts],
        "starts": datetime.now(UTC).date().isoformat(),
        "needs_media": False,
    }
    tried = await story.do("POST", "/rules?dry_run=true", 201, json=rule)
    assert tried["dry_run"]
    await story.do("POST", "/rules", 201, json=rule)
    made = await story.do("POST", "/drafts/generate", json={})
    assert made["posts"] >= 29, made
    again = await story.do("POST", "/drafts/generate", json={})
    assert again["posts"] == 0, again
    drafts = (await story.get("/posts?state=draft&limit=100"))["items"]
    assert len(drafts) >= 29
    assert story.seen("telegram") == []

    post = drafts[0]["id"]
    current = await story.get(f"/posts/{post}")
    await story.do(
        "PATCH",
        f"/posts/{post}",
        json={"text": "Rye today", "revision": current["revision"]},
    )
    await story.post(f"/posts/{post}/approve-and-publish-now")
    shown = await story.until(f"/posts/{post}", lambda shown: shown["state"] == "published")
    assert len(shown["pills"]) == 2
    assert [text.startswith("Rye today") for text in story.seen("telegram")] == [True]
    assert [text.startswith("Rye today") for text in story.seen("slack")] == [True]


async def test_one_channel_fails_and_a_retry_touches_it_alone(story: Story) -> None:
    accounts = [await story.connect(provider) for provider in ("telegram", "slack")]
    role = story.cast.roles["slack"]
    refusal = Answer(400, b"invalid_payload")
    role.simulated.faults.plan(Kind.ERROR_BEFORE, role.publishes, answer=refusal)
    post = (await story.post("/posts", 201, text="Twice"))["id"]
    places = [{"account_id": account} for account in accounts]
    await story.post(f"/posts/{post}/publish-now", accounts=places)
    shown = await story.until(
        f"/posts/{post}", lambda shown: shown["state"] == "partially_published"
    )
    (failed,) = [pill for pill in shown["pills"] if pill["state"] == "failed"]
    assert (failed["channel"], bool(failed["reason"])) == ("slack", True)
    things = await story.get("/attention")
    assert [thing["kind"] for thing in things] == ["failed"]

    await story.post(f"/posts/{post}/retry")
    await story.until(f"/posts/{post}", lambda shown: shown["state"] == "published")
    assert story.seen("telegram") == ["Twice"]
    assert story.seen("slack") == ["Twice"]


async def test_a_lost_answer_is_looked_into_and_a_person_decides_the_rest(story: Story) -> None:
    account = await story.connect("telegram")
    role = story.cast.roles["telegram"]
    role.simulated.faults.plan(Kind.RESET_AFTER, role.publishes)
    post = (await story.post("/posts", 201, text="Perhaps"))["id"]
    await story.post(f"/posts/{post}/publish-now", accounts=[{"account_id": account}])
    shown = await story.until(f"/posts/{post}", lambda shown: shown["state"] == "needs_check")
    (pill,) = shown["pills"]
    doubt = await story.get(f"/deliveries/{pill['delivery_id']}")
    decide = f"/deliveries/{pill['delivery_id']}/decide"
    refused = await story.post(decide, 409, fence=doubt["fence"], is_there=False)
    assert "may still arrive" in refused["detail"]
    await story.post(decide, fence=doubt["fence"], is_there=True)
    await story.until(f"/posts/{post}", lambda shown: shown["state"] == "published")
    assert story.seen("telegram") == ["Perhaps"]


async def test_a_revoked_account_holds_its_posts_and_tells_once(story: Story) -> None:
    account = await story.connect("telegram")
    role = story.cast.roles["telegram"]
    gone = b'{"ok":false,"error_code":401,"description":"Unauthorized"}'
    role.simulated.faults.plan(
        Kind.ERROR_BEFORE, role.publishes, answer=Answer(401, gone), times=10
    )
    for text in ("One", "Two"):
        post = (await story.post("/posts", 201, text=text))["id"]
        await story.post(f"/posts/{post}/publish-now", accounts=[{"account_id": account}])
    await story.until(f"/accounts/{account}", lambda shown: shown["state"] == "needs_reconnect")
    told = await story.runtime.operations.read(
        lambda tx, _: tx.all("SELECT kind FROM outbox WHERE kind LIKE 'account.%'")
    )
    assert len(told) == 1
    assert story.seen("telegram") == []
    await story.until("/deliveries?state=sending", lambda page: not page["items"])

    role.simulated.faults.clear()
    typed = dict(role.typed)
    again = await story.post("/connect/telegram", fields=typed, account_id=account)
    assert (again["accounts"][0]["id"], len(again["held"])) == (account, 2), again
    wanted = await story.do("POST", f"/accounts/{account}/resume", 409, json={})
    assert wanted["choices"], wanted
    await story.post(f"/accounts/{account}/resume", choice="send")
    first, second = [f"/deliveries/{each}" for each in again["held"]]
    sent = await story.until(first, lambda shown: shown["state"] == "sent")
    rest = await story.get(second)
    assert (rest["state"], rest["due_at"] > sent["due_at"]) == ("scheduled", True), "spaced"
    assert story.seen("telegram") == ["One"]
