"""What an agent puts into its arguments stays an argument: no other route, no endless answer, no fault of ours."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute

from cadenza.api import internal_client
from cadenza.api.internal_client import InternalCall
from cadenza.api.rate_limit import Pace, TokenBucket
from cadenza.api.resources import installation_scopes, known_scopes
from cadenza.api.route_lookup import Finder
from cadenza.api.tools import Tool, list_tools
from cadenza.people.model import Caller, Role
from tests.api.conftest import Place, furnish_rooms
from tests.api.walk import everything

HOME = "/api/v1/workspaces/home-of-ada"
MCP = f"{HOME}/mcp"
MCP_ROUTE = "/api/v1/workspaces/{workspace_id}/mcp"
PATIENCE = 60  # seconds; a call that never ends fails the test instead of the run
HOSTILE: tuple[Any, ...] = (
    "x/file",
    "../accounts",
    "..",
    ".",
    "",
    " ",
    "x%2Ffile",
    "x%252Ffile",
    "x?limit=1",
    "x#y",
    "x;y",
    "x\\y",
    "x\x00y",
    "x\r\nhost: elsewhere",
    "\ud800",
    "{workspace_id}",
    "ä" * 200,
    "x" * 20_000,
    None,
    True,
    7,
    -1.5,
    [],
    ["x", ["y"]],
    {},
    {"x": {"y": "z"}},
)


LOOSE = frozenset({"audit", "idempotency_key"})  # what refusals may write


@pytest.fixture
async def agent(small: Place) -> httpx2.AsyncClient:
    """An agent whose key may do all that an admin's key may, as fast as it likes."""
    small.ids |= await small.runtime.operations.run(
        lambda tx, now: furnish_rooms(tx, now, "ada", small.ids["owner.member"])
    )
    at_will = Pace(per_second=1e6, at_once=1_000_000)
    small.app.state.bucket = small.app.state.haste_bucket = TokenBucket(
        small.runtime.clock, at_will, at_will
    )
    owner = await small.client("owner")
    scopes = sorted(known_scopes() - installation_scopes())
    made = await owner.post(
        f"{HOME}/keys", json={"name": "agent", "role": "admin", "scopes": scopes}
    )
    assert made.status_code == 201, made.text
    key = made.json()["key"]
    return await small.client(authorization=f"Bearer {key}", **{"content-type": "application/json"})


async def call(agent: httpx2.AsyncClient, name: str, arguments: Any) -> httpx2.Response:
    requested = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": requested}
    async with asyncio.timeout(PATIENCE):
        return await agent.post(MCP, content=json.dumps(message))


async def test_an_argument_reaches_no_other_route(small: Place, agent: httpx2.AsyncClient) -> None:
    for given in (f"{small.ids['media_id']}/file", f"{small.ids['media_id']}%2Ffile"):
        said = (await call(agent, "media_show_media", {"media_id": given})).json()["result"]
        assert said["isError"], said
        assert "media_id" in said["content"][0]["text"]


@pytest.mark.parametrize("hidden", ["%2F", "%2f"])
async def test_an_encoded_slash_is_no_part_of_an_id(
    small: Place, agent: httpx2.AsyncClient, hidden: str
) -> None:
    answer = await agent.get(f"{HOME}/media/{small.ids['media_id']}{hidden}file")
    assert answer.status_code == 400, answer.text
    assert answer.json()["type"].endswith("bad_address")


@pytest.mark.slow
async def test_no_tool_breaks_or_leaves_its_route_whatever_it_is_given(
    small: Place, agent: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cadenza.api")
    before = await everything(small, but=LOOSE)
    requested = 0
    for tool in tools_of(small):
        names = [*tool.in_path, *tool.in_query, *filter(None, [tool.body])]
        for place, name in enumerate((*names, "confirm", "unheard_of")):
            # The first argument meets all of it, each further one its share.
            for bad in HOSTILE if place == 0 else HOSTILE[place % 3 :: 3]:
                caplog.clear()
                given = dict.fromkeys(tool.in_path, "unknown") | {name: bad}
                answer = await call(agent, tool.name, given)
                requested += 1
                assert answer.status_code in (200, 422), (tool.name, given, answer.text)
                assert "our_fault" not in answer.text, (tool.name, given)
                assert len(answer.text) < 50_000, (tool.name, given)
                reached = {getattr(record, "route", "") for record in caplog.records}
                assert reached <= {tool.route.path, MCP_ROUTE}, (tool.name, given, reached)
    assert requested > 1000
    assert await everything(small, but=LOOSE) == before


@pytest.mark.parametrize("media_type", ["text/plain", "application/json"])
async def test_an_answer_without_an_end_is_cut_off(
    small: Place, monkeypatch: pytest.MonkeyPatch, media_type: str
) -> None:
    """Neither a stream that fills the memory nor one that says nothing at all holds anybody up."""
    monkeypatch.setattr(internal_client, "LONGEST", 0.2)
    for piece, statuses in ((b"x" * 65536, (406, 413)), (b"", (406, 504))):

        async def endless(piece: bytes = piece) -> AsyncIterator[bytes]:
            while True:
                yield piece

        async def answer(request: Request, endless: Any = endless) -> Response:
            return StreamingResponse(endless(), media_type=media_type)

        app = FastAPI()
        app.add_api_route("/endless/{id}", answer)
        route = app.routes[-1]
        assert isinstance(route, APIRoute)
        app.router = Finder(tuple, last=route)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "server": ("127.0.0.1", 1),
            "client": ("127.0.0.1", 2),
            "headers": [],
            "app": app,
        }
        requested = InternalCall(route=route, method="GET", in_path={"id": "a/b"})
        async with asyncio.timeout(PATIENCE):
            answered = await internal_client.call_internally(Request(scope), requested, {})
        assert answered.status == statuses[media_type == "application/json"]


def tools_of(place: Place) -> list[Tool]:
    caller = Caller(by="key:agent", role=Role.ADMIN, scopes=known_scopes())
    return list(list_tools(place.app, caller).values())
