"""Posts over HTTP: written, seen, edited by two at once, approved, timed, sent and taken back."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from cadenza.people.keys import NewKey, make_key
from cadenza.people.model import Role
from cadenza.people.tokens import draw_key
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
POSTS = f"{HOME}/posts"
ADA = {"account_id": "account-of-ada"}


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def write(editor: httpx2.AsyncClient, text: str = "We open at nine.", **more: Any) -> Any:
    answer = await editor.post(POSTS, json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def act(editor: httpx2.AsyncClient, post: Any, verb: str, **body: Any) -> Any:
    answer = await editor.post(f"{POSTS}/{post['id']}/{verb}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def in_the_future(place: Place, **ahead: int) -> str:
    now: datetime = await place.runtime.operations.read(lambda tx, now: now)
    return (now + timedelta(**ahead)).isoformat()


async def program(place: Place, *scopes: str, **limits: Any) -> httpx2.AsyncClient:
    """A program with a key of these scopes."""
    key = draw_key()
    role = limits.pop("role", Role.EDITOR)
    new = NewKey(name="cy", role=role, scopes=scopes, **limits)
    await place.runtime.operations.run(
        lambda tx, now: make_key(
            tx,
            now,
            workspace_id="home-of-ada",
            new=new,
            prefix=key.prefix,
            secret_hash=key.hash,
            member_id=place.ids["owner.member"],
            own=Role.OWNER,
            by="system",
        )
    )
    return await place.client(authorization=f"Bearer {key.text}")


async def test_a_post_is_shown_as_it_was_written(editor: httpx2.AsyncClient) -> None:
    said = {
        "hashtags": ["morning"],
        "variants": {"twitter": {"text": "Open at nine.", "hashtags": []}},
        "parts": ["And until six."],
        "first_comment": "Who comes?",
        "link": "https://example.org/",
        "title": "Opening",
        "labels": ["shop"],
    }
    made = await write(editor, **said)
    answer = await editor.get(f"{POSTS}/{made['id']}")
    shown = answer.json()
    assert answer.headers["etag"] == '"1"'
    assert {name: shown[name] for name in said if name != "variants"} == {
        name: value for name, value in said.items() if name != "variants"
    }
    assert shown["variants"]["x"]["text"] == "Open at nine."
    assert shown["variants"]["x"]["hashtags"] == []
    assert shown["variants"]["x"]["media"] is None
    assert (shown["state"], shown["approved"]) == ("draft", True)


async def test_unknown_channels_media_and_categories_are_refused_by_name(
    editor: httpx2.AsyncClient,
) -> None:
    for body, path in (
        ({"variants": {"twiter": {}}}, "body.variants"),
        ({"media": [{"media_id": "gone"}]}, "body.media"),
        ({"category_id": "gone"}, "body.category_id"),
        ({"link": "javascript:alert(1)"}, "body.link"),
    ):
        answer = await editor.post(POSTS, json={"text": "hello", **body})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["path"].startswith(path), answer.text


async def test_of_two_editors_the_second_gets_the_first_ones_post(
    editor: httpx2.AsyncClient,
) -> None:
    made = await write(editor)
    url = f"{POSTS}/{made['id']}"
    blind = await editor.patch(url, json={"text": "Blind."})
    assert blind.status_code == 428
    first = await editor.patch(url, json={"text": "Ada's."}, headers={"if-match": '"1"'})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    for body, headers, status in (
        ({"text": "Ben's.", "revision": 1}, {}, 409),
        ({"text": "Ben's."}, {"if-match": '"1"'}, 412),
    ):
        second = await editor.patch(url, json=body, headers=headers)
        assert second.status_code == status, second.text
        assert second.json()["current"]["text"] == "Ada's."
    assert (await editor.get(url)).json()["text"] == "Ada's."


async def test_null_empties_what_may_be_empty(editor: httpx2.AsyncClient) -> None:
    made = await write(editor, link="https://example.org/", first_comment="Who?")
    answer = await editor.patch(f"{POSTS}/{made['id']}", json={"link": None, "revision": 1})
    assert (answer.json()["link"], answer.json()["first_comment"]) == (None, "Who?")


async def test_a_wall_time_without_a_zone_names_nothing(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor)
    url = f"{POSTS}/{made['id']}/schedule"
    naive = await editor.post(url, json={"at": "2031-03-30T09:00", "accounts": [ADA]})
    assert naive.status_code == 422
    assert naive.json()["errors"][0]["code"] == "no_instant"
    past = await editor.post(url, json={"at": "2001-01-01T00:00:00Z", "accounts": [ADA]})
    assert past.status_code == 422
    timed = await act(
        editor, made, "schedule", at="2031-03-30T02:30", zone="Europe/Berlin", accounts=[ADA]
    )
    (one,) = timed["places"]
    assert one["note"] is not None, "half past two does not exist that night"
    assert timed["post"]["state"] == "scheduled"
    assert timed["post"]["pills"][0]["channel"] == "mastodon"


async def test_an_edit_voids_the_approval_and_an_approval_brings_it_back(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor)
    at = await in_the_future(place, hours=3)
    await act(editor, made, "schedule", at=at, accounts=[ADA])
    edited = await editor.patch(
        f"{POSTS}/{made['id']}", json={"text": "Other.", "revision": 1, "approve": False}
    )
    assert (edited.json()["voided"], edited.json()["approved"]) == (True, False)
    stale = await editor.post(f"{POSTS}/{made['id']}/approve", json={"revision": 1})
    assert stale.status_code == 409
    approved = await act(editor, made, "approve", revision=2)
    assert len(approved["scheduled"]) == 1
    assert (await act(editor, made, "approve"))["before"]
    back = await act(editor, made, "unapprove", reason="the price is wrong")
    assert back["post"]["pills"][0]["state"] == "draft"


async def test_two_clicks_on_publish_now_are_one_publishing(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor, approve=False)
    refused = await editor.post(f"{POSTS}/{made['id']}/publish-now", json={"accounts": [ADA]})
    assert refused.json()["type"].endswith("not_approved"), refused.text
    first = await act(editor, made, "approve-and-publish-now", accounts=[ADA])
    second = await act(editor, made, "publish-now", accounts=[ADA])
    assert [each["places"][0]["click"] for each in (first, second)] == ["started", "running"]
    rows = await place.rows("SELECT id FROM delivery WHERE post_id = :id", id=made["id"])
    assert len(rows) == 1


async def test_a_canceled_post_is_a_draft_and_a_deleted_one_is_gone(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor)
    await act(editor, made, "schedule", at=await in_the_future(place, hours=3), accounts=[ADA])
    canceled = await act(editor, made, "cancel", reason="no")
    assert (len(canceled["canceled"]), canceled["post"]["state"]) == (1, "draft")
    nothing = await act(editor, made, "retry")
    assert nothing["deliveries"] == []
    gone = await editor.delete(f"{POSTS}/{made['id']}")
    assert gone.status_code == 200, gone.text
    assert (await editor.get(f"{POSTS}/{made['id']}")).status_code == 404


async def test_lists_are_cut_filtered_and_go_on(place: Place, editor: httpx2.AsyncClient) -> None:
    texts = ["one apple", "two pears", "three apples"]
    made = [await write(editor, text, labels=[text.split()[0]]) for text in texts]
    await act(editor, made[0], "schedule", at=await in_the_future(place, days=2), accounts=[ADA])

    async def found(**query: Any) -> list[str]:
        answer = await editor.get(POSTS, params=query)
        assert answer.status_code == 200, answer.text
        return [each["text"] for each in answer.json()["items"]]

    assert await found() == texts[::-1]
    assert await found(search="apple") == [texts[2], texts[0]]
    assert await found(label="two") == ["two pears"]
    assert await found(state="scheduled") == await found(account_id="account-of-ada")
    assert await found(channel="mastodon", due_from=await in_the_future(place, days=3)) == []
    first = (await editor.get(POSTS, params={"limit": 2})).json()
    assert await found(limit=2, cursor=first["next"]) == [texts[0]]
    assert (await editor.get(POSTS, params={"cursor": "bm90IG91cnM"})).status_code == 400
    assert (await editor.get(POSTS, params={"due_from": "2030-01-01T00:00"})).status_code == 422


async def test_a_composer_sees_each_network_count_in_its_own_way(
    editor: httpx2.AsyncClient,
) -> None:
    text = "👨‍👩‍👧 https://example.org/a/very/long/address/that/counts/as/twenty/three"
    body = {"text": text, "channels": ["x", "bluesky"], "accounts": [ADA], "hashtags": ["now"]}
    answer = await editor.post(f"{POSTS}/preview", json=body)
    shown = {each["channel"]: each for each in answer.json()}
    assert shown["x"]["text"] == f"{text}\n\n#now"
    lengths = {name: (each["length"], each["limit"]) for name, each in shown.items()}
    assert lengths["x"] == (2 + 1 + 23 + 6, 280)
    assert lengths["mastodon"] == (1 + 1 + 23 + 6, 500)
    assert lengths["bluesky"][1] == 300
    assert shown["mastodon"]["account_id"] == "account-of-ada"
    long = await editor.post(f"{POSTS}/preview", json={"text": "a" * 281, "channels": ["x"]})
    assert long.json()[0]["problems"][0]["code"] == "too_long"


async def test_channels_tell_their_limits(editor: httpx2.AsyncClient) -> None:
    answer = await editor.get("/api/v1/channels")
    limits = {each["channel"]: each["limit"] for each in answer.json()}
    assert (limits["x"], limits["instagram_feed"], limits["linkedin_profile"]) == (280, 2200, 3000)


async def test_a_check_says_early_what_would_go_wrong(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    draft = {"text": "a" * 501, "accounts": [ADA]}
    long = (await editor.post(f"{POSTS}/check", json=draft)).json()
    assert (long["ready"], [each["code"] for each in long["findings"]]) == (False, ["too_long"])
    made = await write(editor, "the same words")
    await act(editor, made, "schedule", at=await in_the_future(place, hours=3), accounts=[ADA])
    saved = await act(editor, made, "check")
    assert saved == {"ready": True, "findings": []}
    twin = await editor.post(f"{POSTS}/check", json={"text": "The same words", "accounts": [ADA]})
    assert (twin.json()["ready"], twin.json()["findings"][0]["code"]) == (True, "duplicate")


async def test_a_key_of_some_accounts_does_not_see_posts_of_others(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor)
    await act(editor, made, "schedule", at=await in_the_future(place, hours=3), accounts=[ADA])
    reader = await program(place, "posts:read", "posts:write", accounts=["account-of-ada"])
    assert (await reader.get(f"{POSTS}/{made['id']}")).status_code == 200
    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE api_key SET accounts = 'another other'")
    )
    assert (await reader.get(f"{POSTS}/{made['id']}")).status_code == 404
    assert (await reader.get(POSTS)).json()["items"] == []
    assert (await reader.post(f"{POSTS}/{made['id']}/cancel", json={})).status_code == 404


async def test_a_key_approves_and_publishes_only_what_it_was_made_for(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    writer = await program(place, "posts:write")
    refused = await writer.post(POSTS, json={"text": "hello", "approve": True})
    assert refused.json()["type"].endswith("scope_needed"), refused.text
    made = await write(writer)
    assert (made["approved"], made["why_not_approved"] is None) == (False, False)
    sender = await program(place, "posts:approve", "posts:publish", publish_per_day=1)
    await act(sender, made, "approve-and-publish-now", accounts=[ADA])
    other = await write(editor)
    spent = await sender.post(f"{POSTS}/{other['id']}/publish-now", json={"accounts": [ADA]})
    assert spent.status_code == 429, spent.text


async def test_an_edit_says_what_would_go_wrong_where_it_is_planned(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    post = await write(editor)
    assert post["findings"] == []
    await act(editor, post, "schedule", at=await in_the_future(place, days=2), accounts=[ADA])
    long = await editor.patch(
        f"{POSTS}/{post['id']}", json={"text": "x" * 600, "revision": post["revision"]}
    )
    (finding,) = long.json()["findings"]
    assert (finding["account_id"], finding["field"]) == ("account-of-ada", "text")


async def test_an_approval_by_saving_takes_from_a_keys_budget(place: Place) -> None:
    scopes = ("posts:read", "posts:write", "posts:approve")
    writer = await program(place, *scopes, publish_per_day=0)
    made = await write(writer)
    await act(writer, made, "schedule", at=await in_the_future(place, hours=3), accounts=[ADA])
    approving = {"approve": True, "revision": made["revision"]}
    saved = await writer.patch(f"{POSTS}/{made['id']}", json=approving)
    assert saved.status_code == 429, saved.text
    requested = {"post_id": made["id"], "content": {"text": "We open at ten."}, **approving}
    composed = await writer.post(f"{POSTS}/compose", json=requested)
    assert composed.status_code == 429, composed.text
    (pill,) = (await writer.get(f"{POSTS}/{made['id']}")).json()["pills"]
    assert pill["state"] == "draft"
    other = await write(writer, approve=True)
    assert other["approved"]  # it goes nowhere yet, so it costs nothing


async def test_what_is_queued_takes_from_a_keys_budget_once(place: Place) -> None:
    owner = await place.client("owner")
    queue = f"{HOME}/accounts/account-of-ada/queue"
    slots = {"slots": {"0": ["09:00"], "3": ["09:00"]}, "zone": "Europe/Berlin"}
    assert (await owner.put(f"{queue}/schedule", json=slots)).status_code == 200
    scopes = ("posts:read", "posts:write", "posts:approve", "queue:write")
    writer = await program(place, *scopes, publish_per_day=1)
    requested = {"post_id": (await write(writer))["id"], "accounts": [ADA]}
    for outcome in ("queued", "already_queued"):
        queued = await writer.post(f"{HOME}/queue", json=requested)
        assert queued.status_code == 200, queued.text
        assert [each["outcome"] for each in queued.json()["answers"]] == [outcome]
    approved = await writer.post(f"{POSTS}/{requested['post_id']}/approve", json={})
    assert approved.status_code == 200, approved.text  # the one of today

    other = await write(writer, approve=True)
    refused = await writer.post(f"{HOME}/queue", json={"post_id": other["id"], "accounts": [ADA]})
    assert refused.status_code == 429, refused.text
    assert (await writer.get(f"{POSTS}/{other['id']}")).json()["pills"] == []


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("unapprove", {}),
        ("cancel", {}),
        ("retry", {}),
        ("publish-now", {"accounts": [ADA]}),
        ("schedule", {"at": "2031-03-30T09:00:00Z", "accounts": [ADA]}),
    ],
)
async def test_an_act_on_a_post_that_changed_meanwhile_is_refused(
    editor: httpx2.AsyncClient, verb: str, body: dict[str, Any]
) -> None:
    made = await write(editor)
    url = f"{POSTS}/{made['id']}"
    saved = await editor.patch(url, json={"text": "We open at ten.", "revision": 1})
    assert saved.status_code == 200, saved.text
    stale = await editor.post(f"{url}/{verb}", json=body, headers={"if-match": '"1"'})
    assert (stale.status_code, stale.json()["current"]["revision"]) == (412, 2), stale.text
