"""What wants a person, over HTTP: listed with its steps, put right one by one or all at once, and told later."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from cadenza.sql.tx import Tx
from tests.api.conftest import Place
from tests.api.test_posts import ADA, HOME, POSTS, act, in_the_future, program, write

ATTENTION = f"{HOME}/attention"


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def fail(place: Place, editor: httpx2.AsyncClient, text: str, state: str = "failed") -> Any:
    """A post whose one delivery came to a bad end."""
    made = await write(editor, text)
    at = await in_the_future(place, minutes=5)
    timed = await act(editor, made, "schedule", at=at, accounts=[ADA])
    id_ = timed["places"][0]["delivery_id"]
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET state = :state, failed_at = :now, reason = 'no' WHERE id = :id",
            state=state,
            now=now,
            id=id_,
        )
    )
    return made | {"delivery": id_}


async def test_failures_are_listed_and_retried_together(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    bad = [await fail(place, editor, text) for text in ("one", "two")]
    things = (await editor.get(ATTENTION)).json()
    assert {each["subject_id"] for each in things} == {each["delivery"] for each in bad}
    assert all("retry" in each["steps"] for each in things)
    body = {"step": "retry", "subjects": [each["delivery"] for each in bad] + ["nobody"]}
    answers = (await editor.post(f"{ATTENTION}/steps", json=body)).json()["answers"]
    assert [each["outcome"] for each in answers] == ["done", "done", "refused"]
    assert (await editor.get(ATTENTION)).json() == []
    again = (await editor.post(f"{ATTENTION}/steps", json=body)).json()["answers"]
    assert {each["outcome"] for each in again} == {"refused"}


async def test_a_dry_run_of_a_step_changes_nothing(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    bad = await fail(place, editor, "one")
    body = {"step": "retry", "subjects": [bad["delivery"]]}
    tried = await editor.post(f"{ATTENTION}/steps?dry_run=true", json=body)
    assert (tried.json()["dry_run"], tried.json()["answers"][0]["outcome"]) == (True, "done")
    assert len((await editor.get(ATTENTION)).json()) == 1


async def test_posts_that_wait_are_approved_or_deleted_from_the_list(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = [await write(editor, text, approve=False) for text in ("one", "two")]
    for post in made:
        await act(editor, post, "schedule", at=await in_the_future(place, hours=3), accounts=[ADA])
    things = (await editor.get(ATTENTION)).json()
    assert {each["kind"] for each in things} == {"unapproved"}
    by_delivery = {"step": "approve", "subjects": [things[0]["subject_id"]]}
    by_post = {"step": "delete", "subjects": [things[1]["post_id"]]}
    for body in (by_delivery, by_post):
        answer = await editor.post(f"{ATTENTION}/steps", json=body)
        assert answer.json()["answers"][0]["outcome"] == "done", answer.text
    assert (await editor.get(ATTENTION)).json() == []


async def test_missed_posts_go_now_or_become_drafts(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    slots = {"slots": {str(day): ["09:00"] for day in range(7)}}
    await editor.put(f"{HOME}/accounts/account-of-ada/queue/schedule", json=slots)
    for step, state in (("publish_now", "scheduled"), ("to_draft", "draft")):
        missed = await fail(place, editor, step, state="missed")
        body = {"step": step, "subjects": [missed["delivery"]]}
        answer = await editor.post(f"{ATTENTION}/steps", json=body)
        assert answer.json()["answers"][0]["outcome"] == "done", answer.text
        shown = (await editor.get(f"{POSTS}/{missed['id']}")).json()
        assert shown["pills"][0]["state"] == state


async def test_a_missed_post_that_is_published_now_passes_its_days_number_of_posts(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    week = {"slots": {str(day): ["09:00"] for day in range(7)}, "max_per_day": 1}
    await editor.put(f"{HOME}/accounts/account-of-ada/queue/schedule", json=week)
    out = await fail(place, editor, "Out today", state="missed")
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            """
            UPDATE delivery SET state = 'sent', sent_at = :now, failed_at = NULL, due_at = :now
            WHERE id = :id
            """,
            now=now,
            id=out["delivery"],
        )
    )
    missed = await fail(place, editor, "Too late", state="missed")
    body = {"step": "publish_now", "subjects": [missed["delivery"]]}
    (answer,) = (await editor.post(f"{ATTENTION}/steps", json=body)).json()["answers"]
    assert (answer["outcome"], "more than its 1" in answer["message"]) == ("done", True)
    path = f"{HOME}/deliveries/{missed['delivery']}/explain"
    gates = (await editor.get(path)).json()["gates"]
    assert gates["max per day"] == {"passed": True, "message": "sent by hand"}


async def doubt(place: Place, editor: httpx2.AsyncClient, text: str) -> str:
    """A delivery whose one call nobody answered, so long ago that nothing can still arrive."""
    id_ = (await fail(place, editor, text, state="unconfirmed"))["delivery"]

    def call(tx: Tx, now: datetime) -> None:
        home = tx.value(
            "UPDATE delivery SET lease = 1 WHERE id = :id RETURNING workspace_id", id=id_
        )
        tx.run(
            """
            INSERT INTO attempt (
                workspace_id, id, delivery_id, number, part, lease, key, content_hash, began_at, deadline_at
            ) VALUES (:home, :id, :id, 1, 0, 1, :id, 'h', :at, :at)
            """,
            home=home,
            id=id_,
            at=now - timedelta(minutes=5),
        )

    await place.runtime.operations.run(call)
    return id_


async def test_a_decision_names_the_try_that_was_looked_at(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    one, two = await doubt(place, editor, "one"), await doubt(place, editor, "two")
    seen = {each["subject_id"]: each["fence"] for each in (await editor.get(ATTENTION)).json()}
    assert seen == {one: 1, two: 1}
    body = {"step": "it_is_there", "subjects": [one, two], "fences": {one: 1}}
    answers = (await editor.post(f"{ATTENTION}/steps", json=body)).json()["answers"]
    assert [each["outcome"] for each in answers] == ["done", "refused"]
    assert "which try" in answers[1]["message"]

    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET lease = 2 WHERE id = :id", id=two)
    )
    late = {"step": "send_again", "subjects": [two], "fences": {two: 1}}
    (answer,) = (await editor.post(f"{ATTENTION}/steps", json=late)).json()["answers"]
    assert (answer["outcome"], "tried again since" in answer["message"]) == ("refused", True)
    decide = f"{HOME}/deliveries/{two}/decide"
    stale = await editor.post(decide, json={"fence": 1, "is_there": False})
    assert (stale.status_code, stale.json()["type"].endswith("moved_on")) == (409, True)
    fence = (await editor.get(f"{HOME}/deliveries/{two}")).json()["fence"]
    again = await editor.post(decide, json={"fence": fence, "is_there": False})
    assert (again.status_code, again.json()["state"]) == (200, "scheduled")


async def test_sending_an_unconfirmed_post_again_spends_the_keys_budget(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    ids = [await doubt(place, editor, name) for name in ("one", "two", "three")]
    owner = await place.client("owner")
    requested = {"name": "cy", "scopes": ["deliveries:write"], "publish_per_day": 1}
    made = (await owner.post(f"{HOME}/keys", json=requested)).json()
    program = await place.client(authorization=f"Bearer {made['key']}")
    statuses: list[int] = []
    for id_, there in zip([ids[0], ids[0], *ids[1:]], (True, False, False, False), strict=True):
        body = {"fence": 1, "is_there": there}
        answer = await program.post(f"{HOME}/deliveries/{id_}/decide", json=body)
        statuses.append(answer.status_code)
    assert statuses == [200, 409, 200, 429], "what is there, or was refused, costs nothing"


async def test_a_thread_unconfirmed_says_which_part_to_look_for(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    id_ = await doubt(place, editor, "one")
    where = f"{HOME}/deliveries/{id_}"
    assert (await editor.get(where)).json()["unconfirmed_part"] is None
    await place.runtime.operations.run(
        lambda tx, _: tx.run(
            """
            UPDATE delivery SET content = '{"text":"1","parts":["2","3"]}', parts_sent = '["r1"]'
            WHERE id = :id
            """,
            id=id_,
        )
    )
    assert (await editor.get(where)).json()["unconfirmed_part"] == 2


async def test_steps_that_happen_elsewhere_say_where(editor: httpx2.AsyncClient) -> None:
    body = {"step": "edit", "subjects": ["0193a7"]}
    answer = (await editor.post(f"{ATTENTION}/steps", json=body)).json()["answers"][0]
    assert answer["outcome"] == "elsewhere"
    assert "PATCH" in answer["message"]


async def test_a_key_takes_no_step_that_it_was_not_made_for(place: Place) -> None:
    sender = await program(place, "posts:publish")
    for step in ("approve", "delete", "start_workspace", "it_is_there", "resume"):
        body = {"step": step, "subjects": ["0193a7"]}
        answer = await sender.post(f"{ATTENTION}/steps", json=body)
        assert answer.json()["type"].endswith("scope_needed"), (step, answer.text)


async def test_a_posts_story_tells_who_did_what(place: Place, editor: httpx2.AsyncClient) -> None:
    made = await write(editor)
    await act(editor, made, "unapprove", reason="no")
    story = (await editor.get(f"{POSTS}/{made['id']}/activity")).json()
    assert [each["kind"] for each in story] == ["post.unapprove", "post.create"]
    assert story[0]["by"] == f"member:{place.ids['editor.member']}"
    older = await editor.get(
        f"{POSTS}/{made['id']}/activity", params={"before": story[0]["at"], "limit": 1}
    )
    assert [each["kind"] for each in older.json()] == ["post.create"]
    account = await editor.get(f"{HOME}/accounts/account-of-ada/activity")
    assert account.status_code == 200, account.text
