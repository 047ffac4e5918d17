"""Connecting an account over HTTP, against a Mastodon server: bound to person, workspace, and once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.people.model import Role
from cadenza.people.workspaces import add_member
from tests.api.conftest import PASSWORD, Place
from tests.providers.mastodon.fixtures import mastodon

HOME = "/api/v1/workspaces/home-of-ada"


@dataclass
class Desk:
    """A place, and the network next to it."""

    place: Place
    simulated: SimulatedMastodon

    async def begin(self, browser: httpx2.AsyncClient, **more: Any) -> tuple[str, str]:
        """Begin; return the state, and a code that Ada's consent brings."""
        answer = await browser.post(
            f"{HOME}/connect/mastodon", json={"fields": {"instance": self.simulated.url()}, **more}
        )
        assert answer.status_code == 200, answer.text
        query = parse_qs(urlsplit(answer.json()["redirect"]).query)
        code = self.simulated.approve(query["client_id"][0], "ada")
        return query["state"][0], code


@pytest.fixture
async def desk(place: Place) -> AsyncIterator[Desk]:
    async with mastodon() as (scene, simulated):
        place.app.state.runtime = replace(place.runtime, http=scene.http)
        yield Desk(place, simulated)


async def test_an_account_is_connected_and_its_tokens_stay_here(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    done = await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": code})
    assert done.status_code == 200, done.text
    (account,) = done.json()["accounts"]
    assert (account["provider"], account["state"]) == ("mastodon", "connected")
    row = await desk.place.row("SELECT * FROM account WHERE id = :id", id=account["id"])
    assert row is not None
    assert row["sealed"] not in done.text
    for kept in await desk.place.rows("SELECT * FROM connecting"):
        assert state not in str(kept)
    lane = await desk.place.row("SELECT id FROM lane WHERE account_id = :id", id=account["id"])
    assert lane is not None


async def test_a_state_is_good_once(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    body = {"state": state, "code": code}
    assert (await browser.post(f"{HOME}/connect/complete", json=body)).status_code == 200
    again = await browser.post(f"{HOME}/connect/complete", json=body)
    assert again.status_code == 403
    assert again.json()["type"].endswith("unknown_state")


async def test_finishing_has_no_dry_run_and_the_state_stays_good(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    url, body = f"{HOME}/connect/complete", {"state": state, "code": code}
    tried = await browser.post(url, json=body, params={"dry_run": "true"})
    assert (tried.status_code, tried.json()["errors"][0]["path"]) == (422, "query.dry_run")
    assert (await browser.post(url, json=body)).status_code == 200


async def test_a_link_of_somebody_else_connects_nothing_in_my_session(desk: Desk) -> None:
    attacker = await desk.place.client("admin")
    state, code = await desk.begin(attacker)
    victim = await desk.place.client("owner")
    body = {"state": state, "code": code}
    assert (await victim.post(f"{HOME}/connect/complete", json=body)).status_code == 403
    nobody = await desk.place.client()
    assert (await nobody.post(f"{HOME}/connect/complete", json=body)).status_code == 401
    assert (await attacker.post(f"{HOME}/connect/complete", json=body)).status_code == 200


async def test_what_was_begun_in_one_session_is_finished_in_another_of_the_same_person(
    desk: Desk,
) -> None:
    terminal = await desk.place.client("admin")
    begun = await terminal.post(
        f"{HOME}/connect/mastodon", json={"fields": {"instance": desk.simulated.url()}}
    )
    query = parse_qs(urlsplit(begun.json()["redirect"]).query)
    (state,), code = query["state"], desk.simulated.approve(query["client_id"][0], "ada")
    assert state.partition(".")[0] == "home-of-ada", "the page that they come back to must know"
    path = f"{HOME}/connect/begun/{begun.json()['id']}"
    assert (await terminal.get(path)).json()["state"] == "waiting"
    browser = await desk.place.client()
    await browser.post(
        "/api/v1/auth/sign-in", json={"email": "admin@example.org", "password": PASSWORD}
    )
    body = {"state": state, "code": code}
    done = await browser.post(f"{HOME}/connect/complete", json=body)
    assert done.status_code == 200, done.text
    told = (await terminal.get(path)).json()
    assert told["state"] == "connected"
    assert [each["id"] for each in told["accounts"]] == [done.json()["accounts"][0]["id"]]
    other = await desk.place.client("owner")
    assert (await other.get(path)).status_code == 404
    (row,) = await desk.place.rows("SELECT sealed, used_at FROM connecting")
    assert row["sealed"] is None, "a used state keeps nothing"
    assert (await browser.post(f"{HOME}/connect/complete", json=body)).status_code == 403


async def test_who_waits_elsewhere_is_told_why_it_failed(desk: Desk) -> None:
    terminal = await desk.place.client("admin")
    begun = await terminal.post(
        f"{HOME}/connect/mastodon", json={"fields": {"instance": desk.simulated.url()}}
    )
    (state,) = parse_qs(urlsplit(begun.json()["redirect"]).query)["state"]
    refused = await terminal.post(f"{HOME}/connect/complete", json={"state": state, "code": "no"})
    assert refused.status_code == 422
    told = (await terminal.get(f"{HOME}/connect/begun/{begun.json()['id']}")).json()
    assert (told["state"], told["reason"]) == ("failed", refused.json()["detail"])


async def test_two_tabs_at_once_each_finish_their_own(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    first, second = await desk.begin(browser), await desk.begin(browser)
    assert first[0] != second[0]
    for state, code in (second, first):
        done = await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": code})
        assert done.status_code == 200, done.text
    mixed, (_, code) = await desk.begin(browser), await desk.begin(browser)
    crossed = {"state": mixed[0], "code": code}
    refused = await browser.post(f"{HOME}/connect/complete", json=crossed)
    assert refused.status_code == 422, "a code belongs to the client and verifier of its own tab"


@pytest.mark.parametrize(
    "iss", ["https://evil.example", "null", "", "http://[", "https://127.0.0.1.evil.example"]
)
async def test_who_sends_back_must_be_who_was_sent_to(desk: Desk, iss: str) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    body = {"state": state, "code": code}
    refused = await browser.post(f"{HOME}/connect/complete", json=body | {"iss": iss})
    assert refused.status_code == 403
    assert refused.json()["type"].endswith("other_issuer")
    again = await browser.post(f"{HOME}/connect/complete", json=body)
    assert again.status_code == 403, "the state is used up"
    accounts = await desk.place.rows("SELECT id FROM account WHERE workspace_id = 'home-of-ada'")
    assert [row["id"] for row in accounts] == ["account-of-ada"]


async def test_who_was_sent_to_may_send_back(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    body = {"state": state, "code": code, "iss": f"{desk.simulated.url()}/"}
    done = await browser.post(f"{HOME}/connect/complete", json=body)
    assert done.status_code == 200, done.text


async def test_a_state_ends_after_ten_minutes_and_in_its_own_workspace(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser)
    await desk.place.runtime.operations.run(
        lambda tx, now: tx.run("UPDATE connecting SET ends_at = :now", now=now)
    )
    late = await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": code})
    assert late.status_code == 403
    await desk.place.runtime.operations.run(
        lambda tx, now: add_member(
            tx,
            now,
            workspace_id="home-of-ben",
            person_id=desk.place.ids["owner.person"],
            role=Role.OWNER,
            by="system",
        )
    )
    state, code = await desk.begin(browser)
    elsewhere = HOME.replace("ada", "ben") + "/connect/complete"
    moved = await browser.post(elsewhere, json={"state": state, "code": code})
    assert moved.status_code == 403


async def test_connecting_again_must_bring_the_same_identity(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    state, code = await desk.begin(browser, account_id="account-of-ada")
    done = await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": code})
    assert done.status_code == 409
    assert done.json()["type"].endswith("other_identity")


async def test_what_the_network_does_not_ask_for_is_refused(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    for fields in ({"instance": desk.simulated.url(), "token": "x"}, {}):
        answer = await browser.post(f"{HOME}/connect/mastodon", json={"fields": fields})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["path"].startswith("body.fields.")


async def test_an_account_is_let_go_with_what_it_had_to_send(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    answer = await browser.post(f"{HOME}/accounts/account-of-ada/disconnect", json={})
    assert (answer.json()["state"], answer.json()["canceled"]) == ("disabled", 1)
    row = await desk.place.row("SELECT sealed FROM account WHERE id = 'account-of-ada'")
    assert row == {"sealed": None}


async def test_a_second_pause_replaces_the_reason_and_the_end(desk: Desk) -> None:
    browser = await desk.place.client("editor")
    path = f"{HOME}/accounts/account-of-ada/pause"
    await browser.post(path, json={"reason": "a break"})
    again = await browser.post(path, json={"reason": "a fire", "until": "2099-01-01T09:00:00Z"})
    lane = again.json()["lane"]
    assert (lane["pause_reason"], lane["paused_until"]) == ("a fire", "2099-01-01T09:00:00Z")


async def test_what_came_due_in_a_pause_wants_a_choice(desk: Desk) -> None:
    browser = await desk.place.client("editor")
    path = f"{HOME}/accounts/account-of-ada"
    paused = await browser.post(f"{path}/pause", json={"reason": "a break"})
    assert paused.json()["lane"]["paused"] is True
    await desk.place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :past WHERE id = 'delivery-of-ada'",
            past=now.replace(year=now.year - 1),
        )
    )
    requested = await browser.post(f"{path}/resume", json={})
    assert (requested.status_code, requested.json()["held"]) == (409, ["delivery-of-ada"])
    resumed = await browser.post(f"{path}/resume", json={"choice": "draft"})
    assert resumed.json()["lane"]["paused"] is False
    row = await desk.place.row("SELECT state FROM delivery WHERE id = 'delivery-of-ada'")
    assert row == {"state": "draft"}
