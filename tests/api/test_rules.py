"""Categories, pools and rules over HTTP: tried before they are made, and laid out when somebody asks."""

from typing import Any

import httpx2
import pytest

from tests.api.conftest import Place
from tests.api.test_media import take_in
from tests.api.test_posts import ADA, HOME, program

CATEGORIES = f"{HOME}/categories"
RULES = f"{HOME}/rules"
DAILY = {"kind": "daily", "times": ["09:00"]}


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def category(editor: httpx2.AsyncClient, **said: Any) -> Any:
    answer = await editor.post(CATEGORIES, json={"name": "Openings", **said})
    assert answer.status_code == 201, answer.text
    return answer.json()


def form(category_id: str, **said: Any) -> dict[str, Any]:
    return {
        "name": "Each morning",
        "category_id": category_id,
        "pattern": DAILY,
        "zone": "UTC",
        "starts": "2026-01-01",
        "targets": [ADA],
        "needs_media": False,
        **said,
    }


async def rule(editor: httpx2.AsyncClient, **said: Any) -> Any:
    kept = await category(editor, copy="We open on {{weekday}}.")
    answer = await editor.post(RULES, json=form(kept["id"], **said))
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_category_stands_under_a_brand_and_is_kept_while_used(
    editor: httpx2.AsyncClient,
) -> None:
    brand = await category(editor, name="Ada's", hashtags=["#ada"])
    one = await category(
        editor, parent_id=brand["id"], copy="Hello {{who}}", variables={"who": "x"}
    )
    assert (one["copy"], brand["hashtags"]) == ("Hello {{who}}", ["ada"])
    refused = await editor.delete(f"{CATEGORIES}/{brand['id']}")
    assert (refused.status_code, refused.json()["children"]) == (409, 1)
    twice = await editor.post(CATEGORIES, json={"name": "Ada's"})
    assert twice.status_code == 422
    body = {"name": "Closings", "revision": 1}
    changed = await editor.put(f"{CATEGORIES}/{one['id']}", json=body)
    assert (changed.json()["name"], changed.json()["revision"]) == ("Closings", 2)
    stale = await editor.put(f"{CATEGORIES}/{one['id']}", json=body)
    assert stale.status_code == 409
    assert (await editor.delete(f"{CATEGORIES}/{one['id']}")).status_code == 200
    assert len((await editor.get(CATEGORIES)).json()) == 1


async def test_a_pool_keeps_its_files(editor: httpx2.AsyncClient) -> None:
    kept = await category(editor)
    file = await take_in(editor)
    pool = f"{CATEGORIES}/{kept['id']}/pool"
    filled = await editor.put(pool, json={"media_ids": [file["id"]]})
    assert [each["media_id"] for each in filled.json()["assets"]] == [file["id"]], filled.text
    refused = await editor.delete(f"{HOME}/media/{file['id']}")
    assert refused.json()["keepers"] == [f"asset:{kept['id']}"]
    assert (await editor.put(pool, json={"media_ids": ["gone"]})).status_code == 422
    assert (await editor.put(pool, json={"media_ids": []})).json()["assets"] == []


async def test_a_rule_is_tried_made_laid_out_and_ended(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    kept = await category(editor, copy="We open on {{weekday}}.")
    tried = await editor.post(f"{RULES}?dry_run=true", json=form(kept["id"]))
    assert len(tried.json()["plan"]["added"]) == 30, tried.text
    assert (await editor.get(RULES)).json() == []
    made = (await editor.post(RULES, json=form(kept["id"]))).json()["rule"]
    generated = (await editor.post(f"{HOME}/drafts/generate")).json()
    assert (generated["posts"], generated["complete"]) == (30, True)
    assert (await editor.post(f"{HOME}/drafts/generate")).json()["posts"] == 0
    posts = (await editor.get(f"{HOME}/posts", params={"source": "rule", "limit": "200"})).json()[
        "items"
    ]
    assert "We open on " in posts[0]["text"]
    assert not posts[0]["approved"]
    month = posts[0]["target_month"]
    assert (posts[0]["rule_id"], posts[0]["last_attempt_at"]) == (made["id"], None)
    assert month in {each["at"][:7] for each in tried.json()["plan"]["added"]}
    await editor.post(f"{HOME}/posts", json={"text": "by hand"})
    for query, fit in (
        ({"rule_id": made["id"]}, posts),
        ({"rule_id": made["id"], "state": "draft"}, posts),
        ({"rule_id": "another"}, []),
        ({"target_month": month}, [each for each in posts if each["target_month"] == month]),
        ({"target_month": "2001-01"}, []),
    ):
        found = await editor.get(f"{HOME}/posts", params={**query, "limit": "200"})
        assert [each["id"] for each in found.json()["items"]] == [each["id"] for each in fit], query
    assert (await editor.get(f"{HOME}/posts?target_month=2026-13")).status_code == 422
    later = form(kept["id"], pattern={"kind": "daily", "times": ["10:00"]})
    plan = (await editor.put(f"{RULES}/{made['id']}?dry_run=true", json=later)).json()["plan"]
    assert (len(plan["moved"]), plan["kept"], plan["removed"]) == (30, [], [])
    ended = (await editor.delete(f"{RULES}/{made['id']}")).json()
    assert len(ended["plan"]["removed"]) == 30
    assert (await editor.get(f"{RULES}/{made['id']}")).status_code == 404


async def test_a_stale_rule_is_not_overwritten(editor: httpx2.AsyncClient) -> None:
    made = (await rule(editor))["rule"]
    paused = (await editor.post(f"{RULES}/{made['id']}/pause")).json()["rule"]
    assert (paused["state"], paused["revision"]) == ("paused", 2)
    body = form(made["category_id"], revision=1)
    assert (await editor.put(f"{RULES}/{made['id']}", json=body)).status_code == 409
    resumed = await editor.post(f"{RULES}/{made['id']}/resume")
    assert resumed.json()["rule"]["state"] == "active"


async def test_patterns_zones_and_places_that_are_none_are_refused(
    editor: httpx2.AsyncClient,
) -> None:
    kept = await category(editor)
    for wrong in (
        {"pattern": {"kind": "yearly"}},
        {"zone": "Moon/Sea"},
        {"starts": "tomorrow"},
        {"targets": [{"account_id": "nobody"}]},
        {"targets": [ADA | {"channel": "x"}]},
        {"category_id": "gone"},
        {"pattern": {"kind": "daily", "times": [9]}},
    ):
        answer = await editor.post(RULES, json=form(kept["id"]) | wrong)
        assert answer.status_code == 422, (wrong, answer.text)


async def test_a_rule_can_go_elsewhere(place: Place, editor: httpx2.AsyncClient) -> None:
    made = (await rule(editor))["rule"]
    url = f"{RULES}/{made['id']}/targets"
    wrong = await editor.put(url, json={"targets": [{"account_id": "account-of-ben"}]})
    assert wrong.status_code == 422
    same = await editor.put(url, json={"targets": [ADA | {"channel": "mastodon"}]})
    assert same.json()["rule"]["targets"] == made["targets"], same.text


async def test_an_outside_cron_sends_and_generates_with_a_key_of_its_own(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    await rule(editor)
    cron = await program(place, "publishing:run", "drafts:generate")
    sent = await cron.post("/api/v1/publishing/run?seconds=5")
    assert sent.json() == {"dry_run": False, "ran": 0, "complete": True}, sent.text
    generated = await cron.post("/api/v1/drafts/generate?seconds=20")
    assert generated.json()["failed"] == 0, generated.text
    other = await program(place, "posts:read")
    for path in ("publishing/run", "drafts/generate"):
        assert (await other.post(f"/api/v1/{path}")).status_code == 403
        assert (await editor.post(f"/api/v1/{path}")).status_code == 403
