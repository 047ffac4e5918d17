"""The server itself: events as they happen, and an end that waits for nobody's stream."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from cadenza.api.serve import CannotListen, serve
from tests.api.conftest import CSRF, PASSWORD, Place

HOME = "/api/v1/workspaces/home-of-ada"


@asynccontextmanager
async def serving(
    place: Place, who: str | None, *, proxies: Sequence[str] = ()
) -> AsyncGenerator[httpx2.AsyncClient]:
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(place.app, "127.0.0.1", 0, place.stop, proxies=proxies, started=port.set_result)
    )
    cookies = {} if who is None else {"cadenza": place.tokens[who]}
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{await port}", cookies=cookies, headers=CSRF, timeout=20
    ) as browser:
        yield browser
    place.stop.set()
    await asyncio.wait_for(task, 10)


async def read_events(answer: httpx2.Response, count: int) -> list[dict[str, Any]]:
    """Read events until there are enough."""
    found: list[dict[str, Any]] = []
    event: dict[str, Any] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and event.get("data"):
            found.append(event)
            event = {}
            if len(found) == count:
                return found
    return found


async def test_events_come_as_they_happen_and_go_on_after_a_break(place: Place) -> None:
    async with serving(place, "owner") as browser:
        async with browser.stream("GET", f"{HOME}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            await browser.patch(HOME, json={"name": "One"})
            (first,) = await read_events(answer, 1)
        assert first["data"]["kind"] == "workspace.change"
        assert first["data"]["data"]["name"] == "One"
        before = await place.rows(
            "SELECT id FROM audit WHERE workspace_id = 'home-of-ada' AND id <> :id",
            id=first["data"]["id"],
        )
        await browser.patch(HOME, json={"name": "Two"})
        headers = {"last-event-id": first["id"]}
        async with browser.stream("GET", f"{HOME}/events", headers=headers) as answer:
            again = await read_events(answer, len(before) + 1)
        assert again[-1]["data"]["data"]["name"] == "Two"
        assert first["data"]["id"] not in [each["data"]["id"] for each in again]


async def test_open_streams_do_not_hold_up_the_end(place: Place) -> None:
    async with serving(place, "viewer") as browser, contextlib.AsyncExitStack() as streams:
        answer = await streams.enter_async_context(browser.stream("GET", f"{HOME}/events"))
        for _ in range(4):
            answer = await streams.enter_async_context(browser.stream("GET", f"{HOME}/events"))
            assert answer.status_code == 200
        began = asyncio.get_running_loop().time()
        place.stop.set()
        assert await read_events(answer, 1) == []
        assert asyncio.get_running_loop().time() - began < 5


async def test_letters_and_the_house_next_door_are_not_in_the_stream(place: Place) -> None:
    async with serving(place, "viewer") as browser:
        admin = await place.client("admin")
        ben = await place.client("ben")
        async with browser.stream("GET", f"{HOME}/events") as answer:
            asked = {"email": "cy@example.org", "role": "viewer"}
            assert (await admin.post(f"{HOME}/invitations", json=asked)).status_code == 201
            await ben.patch("/api/v1/workspaces/home-of-ben", json={"name": "Ben's"})
            await admin.patch(HOME, json={"name": "Seen"})
            (only,) = await read_events(answer, 1)
        assert only["data"]["data"]["name"] == "Seen"


async def test_it_is_alive_and_ready_until_it_stops(place: Place) -> None:
    browser = await place.client()
    assert (await browser.get("/healthz")).json() == {"status": "ok"}
    assert (await browser.get("/readyz")).status_code == 200
    place.stop.set()
    assert (await browser.get("/readyz")).status_code == 503
    assert (await browser.get("/healthz")).status_code == 200


async def test_a_forwarded_address_is_not_believed(place: Place) -> None:
    async with serving(place, None) as browser:
        said: list[int] = []
        for number in range(9):
            answer = await browser.post(
                "/api/v1/auth/sign-in",
                json={"email": "owner@example.org", "password": "wrong wrong wrong"},
                headers={"x-forwarded-for": f"203.0.113.{number}"},
            )
            said.append(answer.status_code)
        assert said == [401] * 8 + [429]


@pytest.mark.parametrize(
    ("proxies", "believed"),
    [((), "127.0.0.1"), (("10.0.0.0/8",), "127.0.0.1"), (("127.0.0.0/8",), "203.0.113.7")],
)
async def test_an_address_is_believed_from_a_named_proxy_alone(
    small: Place, proxies: tuple[str, ...], believed: str
) -> None:
    async with serving(small, None, proxies=proxies) as browser:
        answer = await browser.post(
            "/api/v1/auth/sign-in",
            json={"email": "owner@example.org", "password": PASSWORD},
            headers={"x-forwarded-for": "203.0.113.7"},
        )
        assert answer.status_code == 200, answer.text
    rows = await small.rows("SELECT address FROM session ORDER BY created_at DESC, id DESC")
    assert rows[0] == {"address": believed}


async def test_what_a_caller_says_before_the_proxy_is_not_believed(small: Place) -> None:
    async with serving(small, None, proxies=["127.0.0.1"]) as browser:
        await browser.post(
            "/api/v1/auth/sign-in",
            json={"email": "owner@example.org", "password": PASSWORD},
            headers={"x-forwarded-for": "198.51.100.1, 203.0.113.7"},
        )
    rows = await small.rows("SELECT address FROM session WHERE address <> '127.0.0.1'")
    assert {"address": "203.0.113.7"} in rows
    assert {"address": "198.51.100.1"} not in rows


@pytest.mark.parametrize("wrong", ["*", "proxy.example.org", "10.0.0.1/8"])
async def test_a_proxy_that_could_be_anybody_is_refused(small: Place, wrong: str) -> None:
    with pytest.raises(CannotListen, match="neither an address nor a network"):
        await serve(small.app, "127.0.0.1", 0, small.stop, proxies=[wrong])
