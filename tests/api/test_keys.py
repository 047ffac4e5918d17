"""API keys: shown once, kept as a hash, held to scopes, accounts and a daily budget."""

import asyncio
from datetime import datetime
from typing import Any

import httpx2

from cadenza.sql.tx import Tx
from tests.api.conftest import Place, deliver

HOME = "/api/v1/workspaces/home-of-ada"


async def make(place: Place, **changes: Any) -> tuple[httpx2.AsyncClient, dict[str, Any]]:
    owner = await place.client("owner")
    requested = {"name": "cy", "scopes": ["deliveries:read", "deliveries:write"]} | changes
    answer = await owner.post(f"{HOME}/keys", json=requested)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    return await place.client(authorization=f"Bearer {said['key']}"), said


async def test_a_key_is_shown_once_and_kept_as_a_hash(place: Place) -> None:
    program, said = await make(place)
    assert (await program.get(f"{HOME}/deliveries")).status_code == 200
    secret = said["key"].split("_", 2)[2]
    for table in ("api_key", "audit", "idempotency_key", "outbox"):
        for row in await place.rows(f"SELECT * FROM {table}"):
            assert secret not in str(row)
    owner = await place.client("owner")
    listed = (await owner.get(f"{HOME}/keys")).text
    assert secret not in listed
    assert said["shown"]["prefix"] in listed


async def test_a_key_knows_its_workspace_and_what_it_may(place: Place) -> None:
    program, said = await make(place, scopes=["posts:read"])
    shown = (await program.get("/api/v1/key")).json()
    assert (shown["workspace_id"], shown["key"]["scopes"]) == ("home-of-ada", ["posts:read"])
    assert said["key"] not in str(shown)
    owner = await place.client("owner")
    assert (await owner.get("/api/v1/key")).status_code == 403


async def test_a_revoked_key_and_a_changed_one_open_nothing(place: Place) -> None:
    program, said = await make(place)
    forged = await place.client(authorization=f"Bearer {said['key'][:-1]}x")
    assert (await forged.get(f"{HOME}/deliveries")).status_code == 401
    owner = await place.client("owner")
    assert (await owner.delete(f"{HOME}/keys/{said['shown']['id']}")).status_code == 200
    assert (await program.get(f"{HOME}/deliveries")).status_code == 401


async def test_a_key_ends_with_the_membership_of_its_maker(place: Place) -> None:
    admin = await place.client("admin")
    requested = {"name": "cy", "scopes": ["deliveries:read"]}
    made = await admin.post(f"{HOME}/keys", json=requested)
    program = await place.client(authorization=f"Bearer {made.json()['key']}")
    owner = await place.client("owner")
    gone = await owner.delete(f"{HOME}/members/{place.ids['admin.member']}")
    assert gone.status_code == 200, gone.text
    assert (await program.get(f"{HOME}/deliveries")).status_code == 401


async def test_a_key_sees_only_its_accounts(place: Place) -> None:
    def more(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            VALUES ('home-of-ada', 'other', 'mastodon', 'other', 'UTC', :now)
            """,
            now=now,
        )

    await place.runtime.operations.run(more)
    program, _ = await make(
        place, accounts=["other"], scopes=["deliveries:read", "accounts:read", "accounts:write"]
    )
    assert (await program.get(f"{HOME}/deliveries")).json()["items"] == []
    assert (await program.get(f"{HOME}/deliveries/delivery-of-ada")).status_code == 404
    assert [each["id"] for each in (await program.get(f"{HOME}/accounts")).json()] == ["other"]
    paused = await program.post(f"{HOME}/accounts/account-of-ada/pause", json={"reason": "x"})
    assert paused.status_code == 404


async def test_nobody_makes_a_key_above_themselves_or_with_invented_scopes(place: Place) -> None:
    admin = await place.client("admin")
    for bad, status in (
        ({"name": "x", "role": "owner", "scopes": ["deliveries:read"]}, 409),
        ({"name": "x", "scopes": ["everything:write"]}, 422),
        ({"name": "x", "scopes": ["system:read"]}, 403),
        ({"name": "x", "scopes": ["deliveries:read", "system:write"]}, 403),
        ({"name": "x", "scopes": ["deliveries:read"], "accounts": ["account-of-ben"]}, 409),
    ):
        answer = await admin.post(f"{HOME}/keys", json=bad)
        assert answer.status_code == status, (bad, answer.text)


async def test_twenty_at_once_keep_to_a_budget_of_five(place: Place) -> None:
    names = [f"d{number}" for number in range(20)]

    def furnish(tx: Tx, now: datetime) -> None:
        for name in names:
            deliver(tx, now, "home-of-ada", "account-of-ada", name)

    await place.runtime.operations.run(furnish)
    program, said = await make(place, publish_per_day=5)
    answers = await asyncio.gather(
        *(program.post(f"{HOME}/deliveries/{name}/publish-now") for name in names)
    )
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (5, 15)
    row = await place.row(
        "SELECT published FROM api_key_day WHERE key_id = :id", id=said["shown"]["id"]
    )
    assert row == {"published": 5}
    tried = await program.post(
        f"{HOME}/deliveries/{names[0]}/publish-now", params={"dry_run": "true"}
    )
    assert tried.status_code == 429


async def test_a_key_in_an_address_is_refused_whatever_it_is_called(small: Place) -> None:
    _, said = await make(small)
    nobody, owner = await small.client(), await small.client("owner")
    for asking in (nobody, owner):
        for name in ("key", "api_key", "API_KEY", "access_token", "q", "limit"):
            answer = await asking.get(f"{HOME}/deliveries", params={name: said["key"]})
            assert answer.status_code == 400, (name, answer.text)
            assert answer.json()["type"].endswith("key_in_address")
            assert said["key"] not in answer.text


async def test_a_key_ends_at_its_end(place: Place) -> None:
    program, said = await make(place, ends_at="2099-01-01T00:00:00Z")
    assert (await program.get(f"{HOME}/deliveries")).status_code == 200
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE api_key SET ends_at = :now WHERE id = :id", now=now, id=said["shown"]["id"]
        )
    )
    assert (await program.get(f"{HOME}/deliveries")).status_code == 401


async def test_a_key_of_the_installation_reads_its_numbers(place: Place) -> None:
    program, _ = await make(place, scopes=["system:read"])
    answer = await program.get("/metrics")
    assert answer.status_code == 200
    assert "cadenza_delivery_lag_seconds" in answer.text
    assert (await program.get("/api/v1/system")).json()["tz_version"]


async def test_a_key_changes_jobs_only_with_the_scope_and_never_as_a_viewer(place: Place) -> None:
    job = await place.runtime.engine.enqueue("no.such.task", {})
    path = f"/api/v1/jobs/{job.id}/cancel"
    for code, limits in (
        ("scope_needed", {"scopes": ["system:read"], "role": "admin"}),
        ("role_needed", {"scopes": ["system:write"], "role": "viewer"}),
    ):
        program, _ = await make(place, **limits)
        refused = await program.post(path)
        assert refused.status_code == 403, refused.text
        assert refused.json()["type"].endswith(code)
    assert not await place.rows("SELECT action FROM audit WHERE action = 'job.cancel'")
    program, said = await make(place, scopes=["system:read", "system:write"])
    done = await program.post(path, json={"reason": "no longer wanted"})
    assert (done.status_code, done.json()["answer"]) == (200, "changed"), done.text
    assert "no longer wanted" in str(done.json()["errors"])
    (line,) = await place.rows("SELECT actor FROM audit WHERE action = 'job.cancel'")
    assert line["actor"] == f"key:{said['shown']['id']}"
    again = await program.post(path)
    assert again.json()["answer"] == "unchanged"
    assert (await program.get(f"/api/v1/jobs/{job.id}")).json()["state"] == "canceled"
