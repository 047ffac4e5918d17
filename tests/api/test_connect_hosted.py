"""Signing in on Unipile's own page: it tells us who signed in, once, and only what it confirms is believed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from cadenza.demo.networks.unipile import SimulatedUnipile
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request
from tests.api.conftest import Place
from tests.providers.contract import Scene
from tests.providers.unipile.fixtures import CANARY, unipile

HOME = "/api/v1/workspaces/home-of-ada"


@dataclass
class Desk:
    """A place, and Unipile next to it, which posts to it."""

    place: Place
    scene: Scene
    simulated: SimulatedUnipile

    async def begin(self, browser: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
        fields = {"dsn": self.simulated.url(), "api_key": CANARY, "sign_in": "linkedin"}
        body = {"fields": {**fields, **more.pop("fields", {})}, **more}
        answer = await browser.post(f"{HOME}/connect/unipile", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def sign_in(self, begun: dict[str, Any]) -> str:
        """Open the page, as a person's browser does; return where it is sent then."""
        reply = await self.scene.http.send(Request("GET", begun["redirect"]))
        assert isinstance(reply, Reply)
        assert reply.status == 302, reply
        return reply.header("location") or ""

    async def accounts(self) -> list[Any]:
        return await self.place.rows(
            "SELECT * FROM account WHERE provider = 'unipile' ORDER BY created_at"
        )


@pytest.fixture
async def desk(place: Place) -> AsyncIterator[Desk]:
    async with unipile("chat") as (scene, simulated):
        place.app.state.runtime = replace(place.runtime, http=scene.http)
        nobody = await place.client()

        async def post(url: str, body: bytes, headers: dict[str, str]) -> int:
            return (
                await nobody.post(urlsplit(url).path, content=body, headers=headers)
            ).status_code

        simulated.post = post
        yield Desk(place, scene, simulated)


async def test_who_signs_in_on_the_page_is_connected_without_bringing_anything_back(
    desk: Desk,
) -> None:
    browser = await desk.place.client("owner")
    begun = await desk.begin(browser)
    path = f"{HOME}/connect/begun/{begun['id']}"
    assert (await browser.get(path)).json()["state"] == "waiting"
    desk.simulated.signs_in_as = "Ada of LinkedIn"
    there = await desk.sign_in(begun)
    assert there.endswith("/w/home-of-ada/accounts")
    told = (await browser.get(path)).json()
    assert told["state"] == "connected"
    (account,) = told["accounts"]
    assert (account["handle"], account["kind"], account["state"]) == (
        *("Ada of LinkedIn", "linkedin"),
        "connected",
    )
    (row,) = await desk.accounts()
    assert CANARY not in str(row)
    (lane,) = await desk.place.rows("SELECT id FROM lane WHERE account_id = :id", id=account["id"])
    assert lane["id"] == f"account:{account['id']}"
    for kept in await desk.place.rows("SELECT * FROM connecting"):
        assert CANARY not in str(kept)


async def test_a_notice_is_taken_once(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    await desk.sign_in(await desk.begin(browser))
    ((url, said),) = desk.simulated.told
    nobody = await desk.place.client()
    again = await nobody.post(urlsplit(url).path, json=said)
    assert again.status_code == 403
    assert len(await desk.accounts()) == 1


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "another-token"},
        {"account_id": "nobody-there"},
        {"status": "CREATION_FAILED"},
        {"account_id": 7},
    ],
)
async def test_what_unipile_does_not_confirm_connects_nothing(
    desk: Desk, forged: dict[str, Any]
) -> None:
    browser = await desk.place.client("owner")

    async def say_other(url: str, body: bytes, headers: dict[str, str]) -> int:
        return 0

    begun = await desk.begin(browser)
    desk.simulated.post = say_other
    await desk.sign_in(begun)
    ((url, said),) = desk.simulated.told
    nobody = await desk.place.client()
    answer = await nobody.post(urlsplit(url).path, json={**said, **forged})
    assert answer.status_code == 422, answer.text
    assert CANARY not in answer.text
    assert await desk.accounts() == []
    told = (await browser.get(f"{HOME}/connect/begun/{begun['id']}")).json()
    assert told["state"] == "failed"


async def test_a_person_cannot_use_the_state_of_a_network_nor_a_network_that_of_a_person(
    desk: Desk,
) -> None:
    browser = await desk.place.client("owner")
    desk.simulated.refuses = True
    begun = await desk.begin(browser)
    back = await desk.sign_in(begun)
    assert "error=access_denied" in back
    state = httpx2.URL(back).params["state"]
    tried = await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": "{}"})
    assert tried.status_code == 403
    nobody = await desk.place.client()
    assert (await nobody.post(f"/connect/notify/{state}", content=b"{}")).status_code == 403
    assert (await nobody.post("/connect/notify/home-of-ada.x", content=b"{}")).status_code == 403


async def test_a_lost_account_is_signed_in_again_on_the_page(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    await desk.sign_in(await desk.begin(browser))
    (row,) = await desk.accounts()
    desk.simulated.accounts[row["remote_id"]].status = "CREDENTIALS"

    def lose(tx: Any, now: Any) -> int:
        return tx.run("UPDATE account SET state = 'needs_reconnect' WHERE id = :id", id=row["id"])

    await desk.place.runtime.operations.run(lose)
    begun = await desk.begin(browser, account_id=row["id"])
    await desk.sign_in(begun)
    assert desk.simulated.told[-1][1]["status"] == "RECONNECTED"
    (after,) = await desk.accounts()
    assert (after["id"], after["state"]) == (row["id"], "connected")


async def test_another_account_does_not_take_the_place_of_a_lost_one(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    await desk.sign_in(await desk.begin(browser))
    (row,) = await desk.accounts()
    other = desk.simulated.add_account("Cy")
    begun = await desk.begin(browser, account_id=row["id"])
    link = next(iter(desk.simulated.links.values()))
    link["reconnect_account"] = other.id
    await desk.sign_in(begun)
    told = (await browser.get(f"{HOME}/connect/begun/{begun['id']}")).json()
    assert (told["state"], len(await desk.accounts())) == ("failed", 1)


async def test_a_link_that_has_ended_is_not_opened_and_an_unknown_network_is_refused(
    desk: Desk,
) -> None:
    browser = await desk.place.client("owner")
    begun = await desk.begin(browser)
    desk.scene.simulator.clock.advance(timedelta(days=365))
    reply = await desk.scene.http.send(Request("GET", begun["redirect"]))
    assert isinstance(reply, Reply)
    assert reply.status == 410
    fields = {"dsn": desk.simulated.url(), "api_key": CANARY, "sign_in": "myspace"}
    answer = await browser.post(f"{HOME}/connect/unipile", json={"fields": fields})
    assert answer.status_code == 422
    assert "linkedin, google" in answer.text
