"""The server itself: events as they happen, and an end that waits for nobody's stream."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import httpx2
import pytest

from cadenza.api.serve import CannotListen, serve
from cadenza.db.audit import record
from cadenza.sql.tx import Tx
from tests.api.conftest import CSRF, PASSWORD, Place

HOME = "/api/v1/workspaces/home-of-ada"
PATIENCE = 60  # seconds, for a busy machine


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
        base_url=f"http://127.0.0.1:{await port}", cookies=cookies, headers=CSRF, timeout=PATIENCE
    ) as browser:
        yield browser
    place.stop.set()
    await asyncio.wait_for(task, PATIENCE)


async def follow(answer: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    """Read events as they come."""
    event: dict[str, Any] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and event.get("data"):
            yield event
            event = {}


async def read_events(answer: httpx2.Response, count: int) -> list[dict[str, Any]]:
    """Read events until there are enough."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        async for event in follow(answer):
            found.append(event)
            if len(found) == count:
                break
    return found


async def read_until(answer: httpx2.Response, name: str) -> list[dict[str, Any]]:
    """Read events until the one that gave the workspace this name."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        async for event in follow(answer):
            found.append(event)
            if (event["data"]["data"] or {}).get("name") == name:
                break
    return found


async def happen(place: Place, count: int) -> None:
    """Let so many things happen at one instant."""

    def operation(tx: Tx, now: datetime) -> None:
        for number in range(count):
            record(
                tx,
                now,
                workspace_id="home-of-ada",
                by="system",
                action="test.one_of_many",
                subject_id=f"s{number:05}",
            )

    await place.runtime.operations.run(operation)


async def test_events_come_as_they_happen_and_go_on_after_a_break(place: Place) -> None:
    async with serving(place, "owner") as browser:
        async with browser.stream("GET", f"{HOME}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            await browser.patch(HOME, json={"name": "One"})
            (first,) = await read_events(answer, 1)
        assert first["data"]["kind"] == "workspace.change"
        assert first["data"]["data"]["name"] == "One"
        await browser.patch(HOME, json={"name": "Two"})
        headers = {"last-event-id": first["id"]}
        async with browser.stream("GET", f"{HOME}/events", headers=headers) as answer:
            again = await read_until(answer, "Two")
        assert first["data"]["id"] not in [each["data"]["id"] for each in again]


MANY = 1200  # more than one look can take in at once


async def test_many_things_at_one_instant_do_not_hold_up_what_follows(place: Place) -> None:
    async with serving(place, "owner") as browser:
        async with browser.stream("GET", f"{HOME}/events") as answer:
            await happen(place, MANY)
            await browser.patch(HOME, json={"name": "After"})
            seen = await read_until(answer, "After")
        many = [each["data"]["subject_id"] for each in seen[:-1]]
        assert sorted(many) == [f"s{number:05}" for number in range(MANY)]


async def test_who_comes_back_after_much_happened_misses_nothing(place: Place) -> None:
    async with serving(place, "owner") as browser:
        async with browser.stream("GET", f"{HOME}/events") as answer:
            await browser.patch(HOME, json={"name": "Before"})
            (before,) = await read_until(answer, "Before")
        await happen(place, MANY)
        await place.runtime.operations.run(leave_news)
        await browser.patch(HOME, json={"name": "After"})
        headers = {"last-event-id": before["id"]}
        async with browser.stream("GET", f"{HOME}/events", headers=headers) as answer:
            seen = await read_until(answer, "After")
        kinds = [each["data"]["kind"] for each in seen]
        assert kinds.count("test.one_of_many") == MANY
        assert kinds[-2:] == ["account.suspended", "workspace.change"]


def leave_news(tx: Tx, now: datetime) -> None:
    """Put news of an account into the outbox."""
    tx.run(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        VALUES ('home-of-ada', 'news', 'account.suspended', 'account-of-ada', '{}', :now)
        """,
        now=now,
    )


async def test_open_streams_do_not_hold_up_the_end(place: Place) -> None:
    async with serving(place, "viewer") as browser, contextlib.AsyncExitStack() as streams:
        answer = await streams.enter_async_context(browser.stream("GET", f"{HOME}/events"))
        for _ in range(4):
            answer = await streams.enter_async_context(browser.stream("GET", f"{HOME}/events"))
            assert answer.status_code == 200
        began = asyncio.get_running_loop().time()
        place.stop.set()
        assert await read_events(answer, 1) == []
        assert asyncio.get_running_loop().time() - began < PATIENCE / 2


async def test_emails_and_other_workspaces_are_not_in_the_stream(place: Place) -> None:
    async with serving(place, "viewer") as browser:
        admin = await place.client("admin")
        ben = await place.client("ben")
        async with browser.stream("GET", f"{HOME}/events") as answer:
            requested = {"email": "cy@example.org", "role": "viewer"}
            assert (await admin.post(f"{HOME}/invitations", json=requested)).status_code == 201
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
