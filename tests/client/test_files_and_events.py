"""Files that are sent and received, and events that are followed, by the client of a program."""

from __future__ import annotations

import asyncio
import zipfile
from io import BytesIO
from pathlib import Path

import httpx2
import pytest

from cadenza.api.app import create_app
from cadenza.bootstrap import Runtime
from cadenza.cli.local import InProcess
from cadenza.client import Client, ClientError, Event, Workspace
from cadenza.client.wire import EventReader
from cadenza.demo.draw import draw
from tests.client.conftest import Patient, key_of, with_key


async def test_a_file_is_sent_and_received_as_it_was(home: Workspace, tmp_path: Path) -> None:
    picture = tmp_path / "shop.png"
    picture.write_bytes(draw("morning"))
    steps: list[tuple[int, int]] = []
    made = await home.media.upload(
        picture, alt="a shop", told=lambda done, total: steps.append((done, total))
    )
    assert (made["name"], made["alt"], made["known"]) == ("shop.png", "a shop", False)
    assert steps[-1] == (picture.stat().st_size,) * 2
    again = await home.media.upload(("other.png", picture.read_bytes()))
    assert (again["id"], again["known"]) == (made["id"], True)
    pieces = [piece async for piece in home.media.download(made["id"])]
    assert b"".join(pieces) == picture.read_bytes()


async def test_a_file_that_is_not_there_is_said(home: Workspace, tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="cannot be read: No such file"):
        await home.media.upload(tmp_path / "nothing.png")


async def test_posts_are_imported_and_the_workspace_exported(home: Workspace) -> None:
    report = await home.imports.import_posts(("posts.csv", b"text\nHello from a file\n"))
    assert (report["made"], report["problems"]) == (1, [])
    data = b"".join([piece async for piece in home.exports.export()])
    with zipfile.ZipFile(BytesIO(data)) as packed:
        assert b"Hello from a file" in packed.read("posts.csv")


async def test_what_happens_is_heard_as_it_happens(runtime: Runtime, home: Workspace) -> None:
    app = create_app(runtime)
    async with with_key(app, await key_of(home, "events:read")) as http:
        events = Client(http).workspace(home.id).events.follow()
        hearing = asyncio.ensure_future(anext(events))
        while not hearing.done():  # the stream tells what is new once it is open
            await home.posts.create(text="hello")
            await asyncio.wait([hearing], timeout=1)
        event = hearing.result()
        await events.aclose()  # pyright: ignore[reportAttributeAccessIssue] - a generator
    assert event.kind.startswith("post.")
    assert event.place.endswith(event.id)


class Breaking(httpx2.AsyncBaseTransport):
    """A stream that breaks after its first event, and tells it again when it goes on."""

    def __init__(self) -> None:
        self.requested: list[str | None] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requested.append(request.headers.get("last-event-id"))
        first = _event("a") + "data: {half"
        rest = _event("a") + ": still here\n\n" + _event("b")
        return httpx2.Response(
            200, text=first if len(self.requested) == 1 else rest, request=request
        )


def _event(id_: str) -> str:
    body = f'{{"id":"{id_}","kind":"k","subject_id":"s","actor":null,"data":null,"at":"now"}}'
    return f"id: 7.{id_}\ndata: {body}\n\n"


async def test_after_a_break_each_event_is_heard_once() -> None:
    transport = Breaking()
    async with httpx2.AsyncClient(transport=transport, base_url="http://there") as http:
        events = Client(http, clock=Patient()).workspace("w").events.follow()
        heard = [(await anext(events)).id, (await anext(events)).id]
        await events.aclose()  # pyright: ignore[reportAttributeAccessIssue] - a generator
    assert heard == ["a", "b"]
    assert transport.requested == [None, "7.a"]


def test_an_ear_knows_lines_that_are_no_event() -> None:
    ear = EventReader()
    assert [ear.hear(line) for line in (": hello", "retry: 2000", "", "id: 1.x")] == [None] * 4
    assert ear.place == "1.x"
    body = '{"id":"x","kind":"k","subject_id":"s","actor":null,"data":{"a":1},"at":"now"}'
    assert ear.hear(f"data: {body}") is None
    assert ear.hear("") == Event("x", "k", "s", None, {"a": 1}, "now", "1.x")
    assert ear.hear("") is None


async def test_an_application_that_breaks_is_heard_of() -> None:
    async def broken(scope: object, receive: object, send: object) -> None:
        raise RuntimeError("broken inside")

    async with httpx2.AsyncClient(transport=InProcess(broken), base_url="http://there") as http:
        with pytest.raises(RuntimeError, match="broken inside"):
            await http.get("/")
