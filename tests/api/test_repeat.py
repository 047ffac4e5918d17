"""Writes that are repeated, tried as a dry run, or decided on an old sight of things."""

import asyncio
from datetime import timedelta

import httpx2
import pytest

from cadenza.bootstrap.prune_idempotency import prune_idempotency
from tests.api.conftest import Place
from tests.api.walk import everything, steps
from tests.media.made import picture

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
    await place.runtime.operations.run(
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
    for row in await place.rows("SELECT * FROM idempotency_key"):
        assert first.json()["secret"] not in str(row)
    assert len(await place.rows("SELECT id FROM webhook")) == 1


async def test_a_dry_run_answers_the_same_and_changes_nothing(place: Place) -> None:
    browser = await place.client("owner")
    path = f"{HOME}/deliveries/delivery-of-ada/cancel"
    tried = await browser.post(path, json={}, params={"dry_run": "true"})
    assert tried.status_code == 200, tried.text
    assert (tried.json()["state"], tried.json()["dry_run"]) == ("canceled", True)
    row = await place.row("SELECT state FROM delivery WHERE workspace_id = 'home-of-ada'")
    assert row == {"state": "scheduled"}
    assert not await place.rows("SELECT id FROM audit WHERE action = 'delivery.cancel'")
    done = await browser.post(path, json={})
    when = {"ended_at": done.json()["ended_at"]}  # each by its own clock
    assert done.json() == tried.json() | {"dry_run": False} | when


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


async def age(place: Place, **span: float) -> None:
    """Let all kept answers be older."""
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE idempotency_key SET created_at = :at", at=now - timedelta(**span)
        )
    )


async def test_a_key_that_ran_out_is_free_again(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "of-yesterday"}
    await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    await age(place, hours=23)
    kept = await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    assert kept.headers["idempotency-replayed"] == "true"
    await age(place, hours=25)
    again = await browser.post("/api/v1/workspaces", json={"name": "Di"}, headers=key)
    assert (again.status_code, again.json()["name"]) == (201, "Di")
    kept = await browser.post("/api/v1/workspaces", json={"name": "Di"}, headers=key)
    assert kept.json() == again.json(), "and it holds the new answer"


async def test_a_request_that_never_ended_gives_its_key_back_in_the_end(place: Place) -> None:
    browser = await place.client("owner")
    key = {"idempotency-key": "cut-off"}
    await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE idempotency_key SET status = NULL, body = NULL")
    )
    under_way = await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    assert under_way.json()["type"].endswith("under_way")
    await age(place, minutes=6)
    assert (
        await browser.post("/api/v1/workspaces", json={"name": "Cy"}, headers=key)
    ).status_code == 201


async def test_keys_that_ran_out_are_swept_and_no_others(place: Place) -> None:
    browser = await place.client("owner")
    for name in ("old", "older"):
        key = {"idempotency-key": name}
        await browser.post("/api/v1/workspaces", json={"name": name}, headers=key)
    await age(place, hours=25)
    key = {"idempotency-key": "new"}
    await browser.post("/api/v1/workspaces", json={"name": "new"}, headers=key)
    await prune_idempotency(place.runtime, {})
    assert await place.rows("SELECT key FROM idempotency_key") == [{"key": "new"}]


# Writes without a key, and why a repetition of them does no harm, or is better refused.
EXCUSED = {
    "/auth/": "who comes in has no name yet that a key could belong to",
    "/me/password": "the old password is wrong the second time",
    "/me/second-factor": "a code counts once, and each proposal replaces the one before",
    "/publishing/run": "one more pass",
    "/drafts/generate": "the same again makes nothing twice",
    "/preview": "it changes nothing",
    "/contacts/search": "it changes nothing",
    "/contacts/count": "it changes nothing",
    "/u/{token}": "who is unsubscribed stays so",
    "/f/{form_id}": "the same address again gets at most one more mail",
    "/f/confirm/{token}": "who is confirmed stays so",
    "/connect/notify/{state}": "a state is good once",
    "/in/{source_id}": "an event is known by its own id, and recorded once",
    "/check": "it changes nothing",
    "/mcp": "its calls have keys of their own",
}


def test_every_write_knows_its_repetitions_or_is_excused(small: Place) -> None:
    without = {
        step.path
        for step in steps(small.app)
        if step.declared.method not in ("GET", "HEAD")
        and not any(
            each["name"] == "idempotency-key" for each in step.operation.get("parameters", ())
        )
    }
    assert {path for path in without if not any(each in path for each in EXCUSED)} == set()
    assert {each for each in EXCUSED if not any(each in path for path in without)} == set()


async def test_an_upload_with_a_key_is_answered_as_the_first_time(place: Place) -> None:
    editor = await place.client("editor")
    key = {"idempotency-key": "picture"}

    async def send(content: bytes) -> httpx2.Response:
        return await editor.post(
            f"{HOME}/media", files={"file": ("a.png", content, "image/png")}, headers=key
        )

    first, again = await send(picture()), await send(picture())
    assert (first.status_code, again.status_code) == (201, 201), again.text
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.json(), again.json()["known"]) == (first.json(), False)
    other = await send(picture(size=(50, 20)))
    assert (other.status_code, other.json()["type"][-10:]) == (422, "key_reused")
    assert len((await editor.get(f"{HOME}/media")).json()["items"]) == 1


async def test_an_import_with_a_key_is_answered_as_the_first_time(place: Place) -> None:
    editor = await place.client("editor")
    key = {"idempotency-key": "sheet"}

    async def send(text: str) -> httpx2.Response:
        sheet = {"file": ("posts.csv", f"text\r\n{text}\r\n".encode(), "text/csv")}
        return await editor.post(f"{HOME}/imports", files=sheet, headers=key)

    first, again = await send("We open"), await send("We open")
    assert (first.json()["made"], first.json()["again"]) == (1, 0), first.text
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert (await send("We close")).json()["type"].endswith("key_reused")
    assert len((await editor.get(f"{HOME}/posts")).json()["items"]) == 1


async def test_a_job_is_brought_back_once_however_often_the_request_comes(place: Place) -> None:
    engine = place.runtime.engine
    (job,) = [(await engine.enqueue("no.such.task", {}))]
    owner = await place.client("owner")
    path, key = f"/api/v1/jobs/{job.id}/cancel", {"idempotency-key": "job"}
    first, again = await owner.post(path, headers=key), await owner.post(path, headers=key)
    assert (first.status_code, first.json()["state"]) == (200, "canceled"), first.text
    assert again.headers["idempotency-replayed"] == "true"
    lines = await place.rows("SELECT action FROM audit WHERE action = 'job.cancel'")
    assert len(lines) == 1
    missing = await owner.post("/api/v1/jobs/999999/retry", headers={"idempotency-key": "other"})
    assert missing.status_code == 404
    assert not await place.rows("SELECT action FROM audit WHERE action = 'job.retry'")


@pytest.mark.parametrize(
    "path", ["/api/v1/jobs/queues/default/pause", "/api/v1/publishing/run", f"{HOME}/media"]
)
async def test_what_has_no_dry_run_is_not_done_instead(small: Place, path: str) -> None:
    owner = await small.client("owner")
    before = await everything(small)
    tried = await owner.post(path, params={"dry_run": "true"}, json={"reason": "a test"})
    assert (tried.status_code, tried.json()["errors"][0]["code"]) == (422, "no_dry_run")
    assert await everything(small) == before
    assert [gate.paused for gate in await small.runtime.engine.store.gates()].count(True) == 0
