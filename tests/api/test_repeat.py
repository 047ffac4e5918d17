"""Writes that are repeated, rehearsed, or decided on an old sight of things."""

import asyncio

from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
HOOK = {"url": "https://example.org/hook"}


async def test_a_repeated_write_gets_the_first_answer_and_happens_once(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "first-try"}
    said = [
        await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key) for _ in range(2)
    ]
    assert [answer.status_code for answer in said] == [201, 201]
    assert said[0].json() == said[1].json()
    assert said[1].headers["idempotency-replayed"] == "true"
    assert len(await place.rows("SELECT id FROM workspace WHERE name = 'Cy'")) == 1


async def test_ten_at_once_with_one_key_happen_once(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "all-at-once"}
    said = await asyncio.gather(
        *(browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key) for _ in range(10))
    )
    assert {answer.status_code for answer in said} == {201}
    assert len({answer.json()["id"] for answer in said}) == 1
    assert len(await place.rows("SELECT id FROM workspace WHERE name = 'Cy'")) == 1


async def test_a_key_with_another_request_is_refused(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "one"}
    await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    answer = await browser.post("/api/v1/workspaces", json={"name": "Di"}, headers=key)
    assert answer.status_code == 422
    assert answer.json()["type"].endswith("key_reused")


async def test_a_refusal_is_not_kept_so_it_can_be_tried_again(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "again"}
    path = f"{HOME}/deliveries/delivery-of-ada/retry"
    assert (await browser.post(path, headers=key)).status_code == 409
    await place.house.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET state = 'missed' WHERE workspace_id = 'home-of-ada'"
        )
    )
    assert (await browser.post(path, headers=key)).status_code == 200


async def test_keys_of_two_people_do_not_meet(place: Place) -> None:
    key = {"idempotency-key": "same"}
    names = []
    for who in ("owner", "ben"):
        browser = await place.client(who)
        answer = await browser.post("/api/v1/workspaces", json={"name": who}, headers=key)
        names.append(answer.json()["name"])
    assert names == ["owner", "ben"]


async def test_an_answer_with_a_secret_is_not_kept(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "hook"}
    first = await browser.post(f"{HOME}/webhooks", json=HOOK, headers=key)
    assert first.status_code == 201
    second = await browser.post(f"{HOME}/webhooks", json=HOOK, headers=key)
    assert second.status_code == 409
    assert second.json()["type"].endswith("answer_not_kept")
    for row in await place.rows("SELECT * FROM kept_answer"):
        assert first.json()["secret"] not in str(row)
    assert len(await place.rows("SELECT id FROM webhook")) == 1


async def test_a_rehearsal_answers_the_same_and_changes_nothing(place: Place) -> None:
    browser = await place.client("owner")
    path = f"{HOME}/deliveries/delivery-of-ada/cancel"
    tried = await browser.post(path, json={}, params={"dry_run": "true"})
    assert tried.status_code == 200, tried.text
    assert (tried.json()["state"], tried.json()["dry_run"]) == ("canceled", True)
    row = await place.row("SELECT state FROM delivery WHERE workspace_id = 'home-of-ada'")
    assert row == {"state": "scheduled"}
    assert not await place.rows("SELECT id FROM audit WHERE action = 'delivery.cancel'")
    done = await browser.post(path, json={})
    assert done.json() == tried.json() | {"dry_run": False}


async def test_what_changed_meanwhile_is_not_overwritten(place: Place) -> None:
    browser = await place.client("owner")
    seen = await browser.get(HOME)
    tag = {"if-match": seen.headers["etag"]}
    first = await browser.patch(HOME, json={"name": "One"}, headers=tag)
    assert first.status_code == 200
    late = await browser.patch(HOME, json={"name": "Two"}, headers=tag)
    assert late.status_code == 412
    assert late.json()["current"]["name"] == "One"
    again = await browser.patch(
        HOME, json={"name": "Two"}, headers={"if-match": first.headers["etag"]}
    )
    assert again.json()["name"] == "Two"


async def test_pages_follow_each_other_without_gap_or_repeat(place: Place) -> None:
    browser = await place.client("owner")
    for number in range(7):
        await browser.patch(HOME, json={"name": f"Name {number}"})
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await browser.get(f"{HOME}/audit", params={"limit": "3", **cursor})).json()
        seen += [each["id"] for each in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    rows = await place.rows(
        "SELECT id FROM audit WHERE workspace_id = 'home-of-ada' ORDER BY happened_at DESC, id DESC"
    )
    assert seen == [row["id"] for row in rows]
