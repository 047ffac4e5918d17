"""An agent speaks the Model Context Protocol: it sees what its key may do, and changes nothing unconfirmed."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from cadenza.api.rate_limit import FairQueue
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
MCP = f"{HOME}/mcp"
QUEUE = f"{HOME}/accounts/account-of-ada/queue"
SLOTS = {"slots": {"1": ["09:00"]}, "zone": "Europe/Berlin"}


@pytest.fixture
async def agent(small: Place) -> httpx2.AsyncClient:
    return await make_agent(small, "queue:read", "queue:write", "accounts:read")


async def make_agent(small: Place, *allowed: str) -> httpx2.AsyncClient:
    owner = await small.client("owner")
    scopes = ["mcp:write", *allowed]
    made = await owner.post(
        f"{HOME}/keys", json={"name": "agent", "role": "editor", "scopes": scopes}
    )
    assert made.status_code == 201, made.text
    return await small.client(authorization=f"Bearer {made.json()['key']}")


async def say(agent: httpx2.AsyncClient, method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = await agent.post(MCP, json=message)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["id"] == 7
    return said


async def call(agent: httpx2.AsyncClient, name: str, **arguments: Any) -> dict[str, Any]:
    said = await say(agent, "tools/call", name=name, arguments=arguments)
    assert "result" in said, said
    return said["result"]


async def test_a_session_begins_with_what_the_server_can(agent: httpx2.AsyncClient) -> None:
    said = await say(agent, "initialize", protocolVersion="2025-06-18", capabilities={})
    assert said["result"]["protocolVersion"] == "2025-06-18"
    assert "tools" in said["result"]["capabilities"]
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await agent.post(MCP, json=ready)).status_code == 202


async def test_tools_are_what_the_key_may_do_and_stand_alone(agent: httpx2.AsyncClient) -> None:
    tools = {tool["name"]: tool for tool in (await say(agent, "tools/list"))["result"]["tools"]}
    assert "queues_show_queue" in tools
    assert "keys_make_key" not in tools
    assert "mcp_speak" not in tools
    assert tools["queues_show_queue"]["annotations"]["readOnlyHint"]
    assert "confirm" in tools["queues_create_schedule"]["inputSchema"]["properties"]
    text = json.dumps(tools)
    assert "#/components" not in text
    assert '"workspace_id"' not in json.dumps(tools["queues_show_queue"]["inputSchema"])


async def test_a_change_is_tried_then_confirmed_and_done_once(
    agent: httpx2.AsyncClient,
) -> None:
    requested: dict[str, Any] = {"account_id": "account-of-ada", "body": SLOTS}
    tried = (await call(agent, "queues_create_schedule", **requested))["structuredContent"]
    assert tried["dry_run"]["dry_run"]
    assert (await agent.get(f"{QUEUE}/schedule")).status_code == 404

    confirmed = {**requested, "confirm": tried["confirm"]}
    for _ in range(2):
        done = await call(agent, "queues_create_schedule", **confirmed)
        assert not done["isError"], done
    shown = await call(agent, "queues_show_schedule", account_id="account-of-ada")
    assert shown["structuredContent"]["revision"] == 1


async def test_a_confirm_word_is_good_for_its_own_call_alone(agent: httpx2.AsyncClient) -> None:
    first: dict[str, Any] = {"account_id": "account-of-ada", "body": SLOTS}
    word = (await call(agent, "queues_create_schedule", **first))["structuredContent"]["confirm"]
    other = {**first, "body": {"slots": {"2": ["10:00"]}}}
    for arguments in ({**other, "confirm": word}, {**first, "confirm": word[:-4] + "AAAA"}):
        said = await say(agent, "tools/call", name="queues_create_schedule", arguments=arguments)
        assert said["error"]["code"] == -32602
    assert (await agent.get(f"{QUEUE}/schedule")).status_code == 404


async def test_refusals_are_told_in_the_servers_own_words(agent: httpx2.AsyncClient) -> None:
    refused = await call(agent, "queues_show_queue", account_id="account-of-ben")
    assert refused["isError"]
    assert "There is no account" in refused["content"][0]["text"]
    unknown = await say(agent, "tools/call", name="queues_show_queue", arguments={"acount_id": 1})
    assert "'acount_id' is unknown" in unknown["error"]["message"]
    nothing = await say(agent, "tools/call", name="launch_rockets")
    assert nothing["error"]["code"] == -32602
    assert (await say(agent, "sampling/createMessage"))["error"]["code"] == -32601


async def test_a_key_without_the_scope_cannot_speak(small: Place) -> None:
    owner = await small.client("owner")
    made = await owner.post(
        f"{HOME}/keys", json={"name": "reader", "role": "viewer", "scopes": ["queue:read"]}
    )
    reader = await small.client(authorization=f"Bearer {made.json()['key']}")
    answer = await reader.post(MCP, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 403


async def test_a_list_can_be_filtered_by_several_values(small: Place) -> None:
    agent = await make_agent(small, "posts:read", "posts:write")
    made = await agent.post(f"{HOME}/posts", json={"text": "We open at nine."})
    assert made.status_code == 201, made.text
    found = await call(agent, "posts_list_posts", state=["draft", "scheduled"], limit=5)
    assert not found["isError"], found
    assert [each["text"] for each in found["structuredContent"]["items"]] == ["We open at nine."]
    other = await call(agent, "posts_list_posts", state=["published"])
    assert other["structuredContent"]["items"] == []


async def test_a_look_needs_no_confirming_however_it_is_sent(small: Place) -> None:
    agent = await make_agent(small, "posts:read", "posts:write")
    words = {"text": "We open at nine.", "accounts": [{"account_id": "account-of-ada"}]}
    seen = await call(agent, "posts_preview", body=words)
    assert json.loads(seen["content"][0]["text"])[0]["text"] == "We open at nine.", seen
    checked = await call(agent, "posts_check_draft", body=words)
    assert checked["structuredContent"]["ready"], checked
    saved = (await agent.post(f"{HOME}/posts", json={"text": "We open at ten."})).json()
    again = await call(agent, "posts_check_saved", post_id=saved["id"], body={})
    assert "findings" in again["structuredContent"], again
    tools = {tool["name"]: tool for tool in (await say(agent, "tools/list"))["result"]["tools"]}
    for name in ("posts_preview", "posts_check_draft", "posts_check_saved"):
        assert tools[name]["annotations"]["readOnlyHint"]
        assert "confirm" not in tools[name]["inputSchema"]["properties"]


async def test_what_cannot_be_tried_is_described_and_confirmed_all_the_same(small: Place) -> None:
    agent = await make_agent(small, "rules:read", "rules:write")
    described = (await call(agent, "rules_generate"))["structuredContent"]
    assert described["dry_run"] == {"note": "This cannot be tried beforehand."}
    done = await call(agent, "rules_generate", confirm=described["confirm"])
    assert done["structuredContent"] == {
        "dry_run": False,
        "posts": 0,
        "without_media": 0,
        "copy_written": 0,
        "complete": True,
    }


async def test_a_tools_own_request_is_served_in_the_agents_turn(
    small: Place, agent: httpx2.AsyncClient
) -> None:
    small.app.state.fair_queue = FairQueue(at_once=1)
    async with asyncio.timeout(20):
        shown = await asyncio.gather(
            *(call(agent, "queues_show_schedule", account_id="account-of-ada") for _ in range(3))
        )
    assert [each["isError"] for each in shown] == [True] * 3  # there are no slots yet
