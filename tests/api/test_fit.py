"""A post that a channel won't take is refused when it is sent on its way, and flagged where it is planned already."""

from typing import Any

import httpx2
import pytest

from tests.api.conftest import Place, add_account
from tests.api.test_posts import ADA, HOME, POSTS, in_the_future, write

SKY = {"account_id": "sky-of-ada"}
TOO_LONG = "bread " * 68  # 408 characters: too long for Bluesky, fine for Mastodon
QUEUE = f"{HOME}/queue"
EVERY_DAY = {"slots": {str(day): ["09:00", "17:30"] for day in range(7)}}


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    """Ada's workspace has a Bluesky account beside the Mastodon one; both have weekly slots."""

    def operation(tx: Any, now: Any) -> None:
        add_account(tx, now, "home-of-ada", "sky-of-ada")
        tx.run("UPDATE account SET provider = 'bluesky', handle = '@sky' WHERE id = 'sky-of-ada'")

    await place.runtime.operations.run(operation)
    editor = await place.client("editor")
    for account in (ADA, SKY):
        url = f"{HOME}/accounts/{account['account_id']}/queue/schedule"
        assert (await editor.put(url, json=EVERY_DAY)).status_code == 200
    return editor


def check_refused(answer: httpx2.Response) -> Any:
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["type"] == "urn:cadenza:problem:does_not_fit"
    assert "@sky" in body["detail"]
    assert "300" in body["detail"]
    (finding,) = body["findings"]
    assert (finding["account_id"], finding["channel"]) == ("sky-of-ada", "bluesky")
    assert finding["blocking"]
    return body


async def planned(editor: httpx2.AsyncClient, post: Any) -> list[Any]:
    return (await editor.get(f"{POSTS}/{post['id']}")).json()["pills"]


@pytest.mark.parametrize("verb", ["schedule", "publish-now", "approve-and-publish-now"])
async def test_sending_what_does_not_fit_is_refused_and_changes_nothing(
    place: Place, editor: httpx2.AsyncClient, verb: str
) -> None:
    post = await write(editor, TOO_LONG, approve=verb != "approve-and-publish-now")
    body: dict[str, Any] = {"accounts": [ADA, SKY]}
    if verb == "schedule":
        body["at"] = await in_the_future(place, days=1)
    check_refused(await editor.post(f"{POSTS}/{post['id']}/{verb}", json=body))
    assert await planned(editor, post) == []
    assert (await editor.get(f"{POSTS}/{post['id']}")).json()["approved"] == post["approved"]
    fits = await editor.post(f"{POSTS}/{post['id']}/{verb}", json=body | {"accounts": [ADA]})
    assert fits.status_code == 200, fits.text


async def test_a_queue_takes_the_accounts_that_fit_and_says_why_not_for_the_others(
    editor: httpx2.AsyncClient,
) -> None:
    post = await write(editor, TOO_LONG)
    answer = await editor.post(QUEUE, json={"post_id": post["id"], "accounts": [ADA, SKY]})
    assert answer.status_code == 200, answer.text
    queued, refused = answer.json()["answers"]
    assert (queued["account_id"], queued["outcome"]) == ("account-of-ada", "queued")
    assert (refused["account_id"], refused["outcome"]) == ("sky-of-ada", "not_queued")
    assert "300" in refused["message"]
    assert [pill["account_id"] for pill in await planned(editor, post)] == ["account-of-ada"]


async def test_a_queue_where_no_account_takes_it_is_a_refusal(editor: httpx2.AsyncClient) -> None:
    post = await write(editor, TOO_LONG)
    check_refused(await editor.post(QUEUE, json={"post_id": post["id"], "accounts": [SKY]}))
    assert await planned(editor, post) == []


@pytest.mark.parametrize("goes", ["queue", "time", "now"])
async def test_the_composers_button_refuses_it_before_and_when_it_is_pressed(
    place: Place, editor: httpx2.AsyncClient, goes: str
) -> None:
    requested: dict[str, Any] = {"content": {"text": TOO_LONG}, "goes": goes, "accounts": [SKY]}
    if goes == "time":
        requested["at"] = await in_the_future(place, days=1)
    for query in ("?dry_run=true", ""):
        check_refused(await editor.post(f"{POSTS}/compose{query}", json=requested))
    assert (await editor.get(POSTS)).json()["items"] == []
    draft = await editor.post(f"{POSTS}/compose", json={"content": {"text": TOO_LONG}})
    assert draft.status_code == 200, draft.text


async def test_an_approval_of_what_does_not_fit_is_refused(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    post = await write(editor, "short", approve=False)
    at = await in_the_future(place, days=1)
    url = f"{POSTS}/{post['id']}"
    timed = await editor.post(f"{url}/schedule", json={"accounts": [SKY], "at": at})
    assert timed.status_code == 200, timed.text
    change = {"text": TOO_LONG, "revision": 1}
    saved = await editor.patch(url, json=change | {"approve": True})
    assert saved.status_code == 200, saved.text
    assert not saved.json()["approved"]
    assert "300" in saved.json()["why_not_approved"]
    check_refused(await editor.post(f"{url}/approve", json={}))
    (pill,) = await planned(editor, post)
    assert pill["state"] == "draft"


async def test_a_scheduled_post_that_stops_fitting_is_flagged_at_once(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    post = await write(editor, "short")
    added = await editor.post(QUEUE, json={"post_id": post["id"], "accounts": [SKY]})
    url = f"{POSTS}/{post['id']}"
    saved = await editor.patch(url, json={"text": TOO_LONG, "revision": 1})
    assert saved.status_code == 200, saved.text
    assert [each["code"] for each in saved.json()["findings"] if each["blocking"]]
    (pill,) = await planned(editor, post)
    assert pill["state"] == "scheduled"
    assert pill["label"] == "Can't be sent"
    assert "300" in pill["reason"]
    (thing,) = [
        each
        for each in (await editor.get(f"{HOME}/attention")).json()
        if each["reason"] == "does_not_fit"
    ]
    assert (thing["subject_id"], thing["steps"][0]) == (pill["delivery_id"], "edit")
    assert "300" in thing["message"]
    queue = (await editor.get(f"{HOME}/accounts/sky-of-ada/queue")).json()
    (line,) = [line for day in queue["days"] for line in day["lines"] if line["post_id"]]
    assert "300" in line["unfit"]
    why = (await editor.get(f"{HOME}/deliveries/{pill['delivery_id']}/explain")).json()
    assert not why["gates"]["content"]["passed"]
    assert "300" in why["message"]
    now = await editor.post(f"{HOME}/deliveries/{pill['delivery_id']}/publish-now")
    check_refused(now)
    again = await editor.patch(url, json={"text": "short again", "revision": 2})
    assert again.status_code == 200, again.text
    (pill,) = await planned(editor, post)
    assert (pill["label"], pill["reason"]) == ("Scheduled", None)
    assert added.status_code == 200


async def test_a_failed_post_is_fixed_and_tried_again_in_one_step(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    post = await write(editor, "short")
    at = await in_the_future(place, days=1)
    url = f"{POSTS}/{post['id']}"
    body = {"accounts": [ADA, SKY], "at": at}
    assert (await editor.post(f"{url}/schedule", json=body)).status_code == 200
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            """
            UPDATE delivery SET state = CASE WHEN account_id = 'sky-of-ada' THEN 'failed' ELSE 'sent' END,
                reason = 'too long', failed_at = CASE WHEN account_id = 'sky-of-ada' THEN due_at END,
                sent_at = CASE WHEN account_id = 'account-of-ada' THEN due_at END
            WHERE post_id = :id
            """,
            id=post["id"],
        )
    )
    requested: dict[str, Any] = {"post_id": post["id"], "revision": 1, "goes": "again"}
    long = await editor.post(f"{POSTS}/compose", json=requested | {"content": {"text": TOO_LONG}})
    check_refused(long)
    told = await editor.post(
        f"{POSTS}/compose?dry_run=true", json=requested | {"content": {"text": "shorter"}}
    )
    assert told.status_code == 200, told.text
    done = await editor.post(f"{POSTS}/compose", json=requested | {"content": {"text": "shorter"}})
    assert done.status_code == 200, done.text
    (went,) = done.json()["places"]
    assert (went["account_id"], went["outcome"]) == ("sky-of-ada", "now")
    states = {pill["account_id"]: pill["state"] for pill in await planned(editor, post)}
    assert states == {"account-of-ada": "sent", "sky-of-ada": "scheduled"}
    nothing = await editor.post(
        f"{POSTS}/compose", json={"post_id": post["id"], "revision": 2, "goes": "again"}
    )
    assert (nothing.status_code, nothing.json()["type"][20:]) == (409, "nothing_failed")
