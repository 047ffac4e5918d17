"""A week of slots, posts in them, and what people do to a queue, over HTTP."""

from datetime import date
from typing import Any

import httpx2
import pytest

from cadenza.api.queues import ScheduleChange, ScheduleInput
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
SLOTS = {str(day): ["09:00", "17:30"] for day in range(7)}


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


@pytest.fixture
async def queue(editor: httpx2.AsyncClient) -> str:
    account = "account-of-ada"
    answer = await editor.put(
        f"{HOME}/accounts/{account}/queue/schedule", json={"slots": SLOTS, "zone": "Europe/Berlin"}
    )
    assert answer.status_code == 200, answer.text
    return f"{HOME}/accounts/{account}/queue"


async def post(place: Place, text: str) -> str:
    new = NewPost(workspace_id="home-of-ada", text=text)
    made = await place.runtime.operations.run(
        lambda tx, now: create(tx, now, new, by=f"member:{place.ids['editor.member']}")
    )
    assert isinstance(made, Created)
    return made.id


async def add(editor: httpx2.AsyncClient, post_id: str, **more: Any) -> dict[str, Any]:
    answer = await editor.post(f"{HOME}/queue", json={"post_id": post_id, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_post_gets_the_next_slot_and_the_answer_says_why_not_earlier(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    first, second = [await add(editor, await post(place, text)) for text in ("one", "two")]

    (one,), (two,) = first["answers"], second["answers"]
    assert (one["outcome"], one["zone"]) == ("queued", "Europe/Berlin")
    assert one["at"] < two["at"]
    assert two["passed"]["taken"] == 1
    shown = (await editor.get(queue)).json()
    filled = [line for day in shown["days"] for line in day["lines"] if line["kind"] == "filled"]
    assert [line["text"] for line in filled] == ["one", "two"]


async def test_a_dry_run_answers_the_same_and_changes_nothing(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    id_ = await post(place, "one")
    tried = await editor.post(f"{HOME}/queue?dry_run=true", json={"post_id": id_})
    done = await add(editor, id_)
    assert tried.json()["dry_run"]
    assert tried.json()["answers"][0]["at"] == done["answers"][0]["at"]


async def test_a_stale_order_is_refused_with_the_order_of_now(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    ids = [await post(place, text) for text in ("one", "two")]
    revision = [(await add(editor, id_))["answers"][0]["revision"] for id_ in ids][-1]
    turned = {"verb": "order", "ids": ids[::-1], "revision": revision}
    moved = await editor.post(f"{queue}/order", json=turned)
    assert moved.status_code == 200, moved.text
    again = await editor.post(f"{queue}/order", json=turned)
    assert again.status_code == 409
    assert [entry["post_id"] for entry in again.json()["order"]] == ids[::-1]


async def test_a_cleared_queue_comes_back_by_undo(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    await add(editor, await post(place, "one"))
    cleared = (await editor.post(f"{queue}/clear", json={})).json()
    assert len(cleared["canceled"]) == 1
    undone = await editor.post(f"{HOME}/queue/clears/{cleared['clear_id']}/undo", json={})
    assert len(undone.json()["restored"]) == 1


async def test_pausing_skipping_and_the_runway_go_by_the_same_door(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    await add(editor, await post(place, "one"))
    skipped = await editor.post(f"{queue}/skips", json={"reason": "a day off"})
    assert skipped.json()["fresh"]
    assert len((await editor.get(f"{queue}/skips")).json()) == 1
    paused = await editor.post(f"{queue}/pause", json={"reason": "breaking news"})
    assert paused.json()["reason"] == "breaking news"
    resumed = await editor.post(f"{queue}/resume", json={"choice": "shift"})
    assert resumed.json()["was_paused"]
    assert (await editor.get(f"{queue}/runway")).json()["posts"] == 1


async def test_a_schedule_change_is_tried_before_it_is_made(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    await add(editor, await post(place, "one"))
    slots = {str(day): ["10:00"] for day in range(7)}
    tried = await editor.patch(f"{queue}/schedule?dry_run=true", json={"slots": slots})
    assert tried.status_code == 200, tried.text
    assert len(tried.json()["moves"]) + len(tried.json()["pinned"]) == 1
    kept = (await editor.get(f"{queue}/schedule")).json()
    assert [slot["hour"] for slot in kept["slots_by_day"]["1"]] == [9, 17]


async def test_bad_times_are_refused_with_what_is_wrong(
    editor: httpx2.AsyncClient, queue: str
) -> None:
    answer = await editor.patch(f"{queue}/schedule", json={"slots": {"1": ["25:00"]}})
    assert answer.status_code == 422
    assert "25" in answer.json()["detail"], answer.text


async def test_a_post_takes_the_slot_that_was_pointed_at_and_another_does_not(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    shown = (await editor.get(queue)).json()
    lines = [line for day in shown["days"] for line in day["lines"]]
    free = [line["at"] for line in lines if line["kind"] == "empty"]
    mine, other = [await post(place, text) for text in ("mine", "other")]
    told: list[tuple[str | None, bool]] = []
    for at in (free[2], free[1]):
        answer = await editor.post(f"{queue}/slots", json={"post_id": mine, "at": at})
        assert answer.status_code == 200, answer.text
        told.append((answer.json()["was_at"], answer.json()["was_slot"]))
    assert told == [(None, False), (free[2], True)]
    refused = await editor.post(f"{queue}/slots", json={"post_id": other, "at": free[1]})
    assert (refused.status_code, refused.json()["type"].endswith("no_room")) == (409, True)
    (added,) = (await add(editor, other, slot=free[2]))["answers"]
    assert (added["outcome"], added["at"]) == ("queued", free[2])


async def test_of_two_who_move_a_post_the_second_is_told(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    mine = await post(place, "mine")
    (queued,) = (await add(editor, mine))["answers"]
    shown = (await editor.get(queue)).json()
    ada, ben, *_ = [
        line["at"] for day in shown["days"] for line in day["lines"] if line["kind"] == "empty"
    ]
    both_saw = queued["at"]
    moved = await editor.post(
        f"{queue}/slots", json={"post_id": mine, "at": ada, "seen_at": both_saw}
    )
    assert moved.status_code == 200, moved.text

    by_hand = {"at": ben, "accounts": [{"account_id": "account-of-ada"}], "seen_at": both_saw}
    for url, body in (
        (f"{queue}/slots", {"post_id": mine, "at": ben, "seen_at": both_saw}),
        (f"{HOME}/posts/{mine}/schedule", by_hand),
    ):
        refused = await editor.post(url, json=body)
        assert refused.status_code == 409, refused.text
        assert refused.json()["type"].endswith("moved_meanwhile")
    (pill,) = (await editor.get(f"{HOME}/posts/{mine}")).json()["pills"]
    assert pill["at"] == ada
    again = await editor.post(f"{HOME}/posts/{mine}/schedule", json=by_hand | {"seen_at": ada})
    assert again.status_code == 200, again.text


async def test_the_same_words_are_warned_of_when_they_are_queued(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    """Case 30: at queue time, and what holds the place is said with it."""
    (first,) = (await add(editor, await post(place, "Fresh bread")))["answers"]
    assert first["warnings"] == []
    (second,) = (await add(editor, await post(place, "fresh  bread")))["answers"]
    assert ["the same words" in warning for warning in second["warnings"]] == [True]
    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE workspace SET stopped_at = created_at, stop_reason = 'recall'")
    )
    (third,) = (await add(editor, await post(place, "cake")))["answers"]
    assert third["warnings"] == ["the workspace is stopped: recall"]


async def test_the_examples_of_a_schedule_are_taken(
    editor: httpx2.AsyncClient,
) -> None:
    path = f"{HOME}/accounts/account-of-ada/queue/schedule"
    requested, changes = (
        ScheduleInput.model_json_schema()["examples"],
        ScheduleChange.model_json_schema()["examples"],
    )
    for example in requested:
        answer = await editor.put(f"{path}?dry_run=true", json=example)
        assert answer.status_code == 200, answer.text
    await editor.put(path, json=requested[0])
    for example in changes:
        answer = await editor.patch(f"{path}?dry_run=true", json=example)
        assert answer.status_code == 200, answer.text


async def test_who_changes_a_time_may_say_which_became_which(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    (added,) = (await add(editor, await post(place, "one")))["answers"]
    was = added["wall_time"][11:]
    weekday = date.fromisoformat(added["wall_time"][:10]).isoweekday() % 7
    slots = {**SLOTS, str(weekday): [*({"09:00", "17:30"} - {was}), "20:00", "21:00"]}
    body = {"slots": slots, "renamed": [{"day": weekday, "was": was, "now": "21:00"}]}
    answer = await editor.patch(f"{queue}/schedule", json=body)
    assert answer.status_code == 200, answer.text
    assert [moved["id"] for moved in answer.json()["moves"]] == added["ids"]
    shown = (await editor.get(queue)).json()
    filled = [line for day in shown["days"] for line in day["lines"] if line["kind"] == "filled"]
    assert [line["wall_time"][11:] for line in filled] == ["21:00"]
    wrong = {"slots": slots, "renamed": [{"day": weekday, "was": "03:00", "now": "21:00"}]}
    assert (await editor.patch(f"{queue}/schedule", json=wrong)).status_code == 422


async def test_an_accounts_other_zone_is_its_queues(
    place: Place, editor: httpx2.AsyncClient, queue: str
) -> None:
    (added,) = (await add(editor, await post(place, "one")))["answers"]
    admin = await place.client("admin")
    answer = await admin.patch(f"{HOME}/accounts/account-of-ada", json={"zone": "Asia/Kathmandu"})
    assert answer.status_code == 200, answer.text
    (row,) = await place.rows("SELECT * FROM delivery WHERE id = :id", id=added["ids"][0])
    assert row["zone"] == "Asia/Kathmandu"
    shown = (await editor.get(queue)).json()
    filled = [line for day in shown["days"] for line in day["lines"] if line["kind"] == "filled"]
    assert [line["wall_time"] for line in filled] == [row["wall_time"]]
    assert row["wall_time"][11:] in ("09:00", "17:30")


async def test_slots_that_changed_meanwhile_are_left_alone(
    editor: httpx2.AsyncClient, queue: str
) -> None:
    url = f"{queue}/schedule"
    seen = {"if-match": (await editor.get(url)).headers["etag"]}
    first = await editor.patch(url, json={"name": "Mornings"}, headers=seen)
    assert first.status_code == 200, first.text
    late = await editor.patch(url, json={"name": "Evenings"}, headers=seen)
    assert (late.status_code, late.json()["current"]["name"]) == (412, "Mornings")
    again = await editor.put(url, json={"slots": SLOTS}, headers=seen)
    assert again.status_code == 412, again.text
    assert (await editor.get(url)).json()["name"] == "Mornings"


async def test_no_slots_match_nothing(editor: httpx2.AsyncClient) -> None:
    url = f"{HOME}/accounts/account-of-ada/queue/schedule"
    requested = await editor.put(url, json={"slots": SLOTS}, headers={"if-match": "*"})
    assert requested.status_code == 412, requested.text


@pytest.mark.parametrize("thing", ["", "/queue"])
async def test_a_pause_until_a_past_time_is_refused(
    editor: httpx2.AsyncClient, queue: str, thing: str
) -> None:
    path = queue.removesuffix("/queue")
    answer = await editor.post(
        f"{path}{thing}/pause", json={"reason": "news", "until": "2020-01-01T09:00:00Z"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "body.until"
    assert not (await editor.get(path)).json()["lane"]["paused"]
