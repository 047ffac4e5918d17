"""The composer's one button over HTTP: what it would come to is told first, then done as it was told, or not at all."""

from datetime import datetime
from typing import Any

import httpx2
import pytest

from cadenza.deliveries.init_account import init_account
from cadenza.sql.tx import Tx
from tests.api.conftest import Place
from tests.api.test_posts import ADA, HOME, POSTS, in_the_future, program, write

COMPOSE = f"{POSTS}/compose"
EVERY_DAY = {"slots": {str(day): ["09:00", "17:30"] for day in range(7)}}
WORDS = {"text": "We open at nine."}


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    editor = await place.client("editor")
    url = f"{HOME}/accounts/account-of-ada/queue/schedule"
    assert (await editor.put(url, json=EVERY_DAY)).status_code == 200
    return editor


async def ask(editor: httpx2.AsyncClient, *, dry: bool = False, **body: Any) -> Any:
    answer = await editor.post(COMPOSE + ("?dry_run=true" if dry else ""), json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def count(editor: httpx2.AsyncClient) -> int:
    return len((await editor.get(POSTS)).json()["items"])


async def test_the_dry_run_tells_the_slot_that_the_act_then_takes(
    editor: httpx2.AsyncClient,
) -> None:
    requested = {"content": WORDS, "goes": "queue", "accounts": [ADA]}
    before = await count(editor)
    told = await ask(editor, dry=True, **requested)
    assert (told["dry_run"], await count(editor)) == (True, before)
    done = await ask(editor, **requested)
    assert (told["places"][0]["outcome"], told["places"]) == ("queued", done["places"])
    (pill,) = done["post"]["pills"]
    assert pill["at"] == told["places"][0]["at"]
    later = await ask(editor, dry=True, **requested)
    assert later["places"][0]["at"] > told["places"][0]["at"]


async def test_a_refusal_leaves_nothing_behind(editor: httpx2.AsyncClient) -> None:
    before = await count(editor)
    requested = {"content": WORDS, "goes": "queue", "accounts": [{"account_id": "nobody"}]}
    answer = await editor.post(COMPOSE, json=requested)
    assert answer.status_code == 422
    assert await count(editor) == before


async def test_an_account_without_a_queue_says_so_beside_itself(place: Place) -> None:
    editor = await place.client("editor")
    done = await ask(editor, content=WORDS, goes="queue", accounts=[ADA])
    (refused,) = done["places"]
    assert (refused["outcome"], "schedule" in refused["message"]) == ("refused", True), refused


async def test_saved_words_are_changed_and_timed_together_by_their_revision(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await write(editor)
    at = await in_the_future(place, days=2)
    requested = {"post_id": made["id"], "goes": "time", "at": at, "accounts": [ADA]}
    done = await ask(editor, **requested, revision=1, content={"text": "We open at ten."})
    assert (done["post"]["text"], done["post"]["revision"]) == ("We open at ten.", 2)
    (timed,) = done["places"]
    assert (timed["outcome"], timed["by_hand"], timed["channel"]) == ("timed", True, "mastodon")
    stale = await editor.post(COMPOSE, json={**requested, "revision": 1, "content": WORDS})
    assert (stale.status_code, stale.json()["current"]["revision"]) == (409, 2)


async def test_words_that_stay_as_they_are_are_not_saved_again(editor: httpx2.AsyncClient) -> None:
    made = await write(editor)
    done = await ask(editor, post_id=made["id"], goes="queue", accounts=[ADA])
    assert (done["post"]["revision"], done["places"][0]["outcome"]) == (1, "queued")
    again = await ask(editor, post_id=made["id"], goes="queue", accounts=[ADA])
    assert again["places"][0]["outcome"] == "already"


@pytest.mark.parametrize("goes", ["nowhere", "queue", "time", "now"])
async def test_words_that_were_changed_meanwhile_go_nowhere_unseen(
    place: Place, editor: httpx2.AsyncClient, goes: str
) -> None:
    made = await write(editor)
    url = f"{POSTS}/{made['id']}"
    changed = await editor.patch(url, json={"text": "We stay closed.", "revision": 1})
    assert changed.status_code == 200, changed.text
    requested: dict[str, Any] = {"post_id": made["id"], "goes": goes, "accounts": [ADA]}
    if goes == "time":
        requested["at"] = await in_the_future(place, days=2)
    for body, headers, status in (
        ({**requested, "revision": 1}, {}, 409),
        (requested, {"if-match": '"1"'}, 412),
    ):
        answer = await editor.post(COMPOSE, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        assert answer.json()["type"].endswith("changed_meanwhile")
        assert answer.json()["current"]["text"] == "We stay closed."
    assert (await editor.get(url)).json()["pills"] == []
    done = await editor.post(COMPOSE, json={**requested, "revision": 2})
    assert done.status_code == 200, done.text


async def test_publishing_now_wants_an_approval_or_gives_one(editor: httpx2.AsyncClient) -> None:
    made = await write(editor, approve=False)
    requested = {"post_id": made["id"], "goes": "now", "accounts": [ADA]}
    assert (await editor.post(COMPOSE, json=requested)).json()["type"].endswith("not_approved")
    done = await ask(editor, **requested, approve=True)
    assert (done["post"]["approved"], done["places"][0]["outcome"]) == (True, "now")


async def test_a_key_does_with_the_button_only_what_it_may_do_without(place: Place) -> None:
    writer = await program(place, "posts:write")
    saved = await writer.post(COMPOSE, json={"content": WORDS})
    assert saved.status_code == 200, saved.text
    for goes, scope in (("queue", "queue:write"), ("now", "posts:publish")):
        answer = await writer.post(
            COMPOSE, json={"content": WORDS, "goes": goes, "accounts": [ADA]}
        )
        assert (answer.status_code, scope in answer.json()["detail"]) == (403, True)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "body.content"),
        ({"content": WORDS, "goes": "time", "accounts": [ADA]}, "body.at"),
        ({"content": WORDS, "goes": "now"}, "body.accounts"),
        (
            {"content": WORDS, "goes": "queue", "accounts": [ADA], "at": "2031-01-01T09:00"},
            "body.at",
        ),
    ],
)
async def test_what_is_missing_is_named(
    editor: httpx2.AsyncClient, body: dict[str, Any], path: str
) -> None:
    answer = await editor.post(COMPOSE, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["path"] == path


@pytest.fixture
async def gone(place: Place) -> dict[str, str]:
    """A second account of the workspace, which a person disconnected."""

    def operation(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, state, created_at)
            VALUES ('home-of-ada', 'gone', 'mastodon', 'gone', '@gone', 'UTC', 'sealed', 'disabled', :now)
            """,
            now=now,
        )
        init_account(tx, now, workspace_id="home-of-ada", account_id="gone")

    await place.runtime.operations.run(operation)
    return {"account_id": "gone"}


@pytest.mark.parametrize("goes", ["queue", "time", "now"])
async def test_a_disconnected_account_is_refused_beside_the_others(
    place: Place, editor: httpx2.AsyncClient, gone: dict[str, str], goes: str
) -> None:
    at = await in_the_future(place, days=2) if goes == "time" else None
    requested = {"content": WORDS, "goes": goes, "at": at, "accounts": [ADA, gone]}
    done = await ask(editor, **requested)
    found = {each["account_id"]: each for each in done["places"]}
    assert found["account-of-ada"]["outcome"] in ("queued", "timed", "now")
    assert found["gone"]["outcome"] == "refused"
    assert "@gone is disconnected" in found["gone"]["message"]


async def test_the_check_and_the_preview_name_a_disconnected_account(
    editor: httpx2.AsyncClient, gone: dict[str, str]
) -> None:
    requested = {**WORDS, "accounts": [ADA, gone]}
    checked = await editor.post(f"{POSTS}/check", json=requested)
    assert checked.status_code == 200, checked.text
    found = [each for each in checked.json()["findings"] if each["account_id"] == "gone"]
    assert [(each["code"], each["blocking"]) for each in found] == [("account", True)]
    previews = await editor.post(f"{POSTS}/preview", json=requested)
    assert [each["account_id"] for each in previews.json()] == ["account-of-ada", "gone"]
    made = await write(editor)
    saved = await editor.post(f"{POSTS}/{made['id']}/check", json={"accounts": [ADA, gone]})
    assert not saved.json()["ready"]
