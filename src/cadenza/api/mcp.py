"""For agents: the workspace's operations as tools of the Model Context Protocol (streamable HTTP).

Tools are the routes themselves, called through the same gate with the caller's own key. A tool that
changes something is tried as a dry run first: its answer comes with a `confirm` word, and only the same call with
that word does it, once, within ten minutes. Limit: stateless JSON answers, no server-sent streams.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from cadenza.accounts.seal import CannotOpen
from cadenza.api.internal_client import Answered, call_internally
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.api.tools import BadArguments, Tool, list_tools
from cadenza.people.model import Role

routes = Resource("mcp", "/workspaces/{workspace_id}/mcp")
VERSIONS = ("2025-06-18", "2025-03-26")
CONFIRM = "confirm"
LONGEST_NAME = 100  # characters of a tool's name
GOOD_FOR = timedelta(minutes=10)
INSTRUCTIONS = (
    "Operations of one Cadenza workspace. Tools that change something are tried as a dry run first and answer with "
    "what would happen and a `confirm` word; show it to the person, then call again with the same "
    "arguments and that word. Times carry an offset; the answers say zone and wall time."
)


class RpcMessage(BaseModel):
    """A JSON-RPC message."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]},
    )
    jsonrpc: Literal["2.0"]
    method: Annotated[str, Field(max_length=100)]
    id: int | Annotated[str, Field(max_length=200)] | None = None
    params: dict[str, Any] = {}


class Refusal(Exception):
    """An error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@routes.post(
    needs=Role.VIEWER,
    scope="mcp:write",
    summary="Speak as an agent",
    responses={202: {"description": "A notification: it wants no answer"}},
)
async def speak(ask: Reader, workspace_id: Id, body: RpcMessage) -> Response:
    """Answer one message of the Model Context Protocol."""
    if body.id is None:
        return Response(status_code=202)  # a notification wants no answer
    try:
        result = await _answer(ask, body)
    except Refusal as refusal:
        fault = {"code": refusal.code, "message": str(refusal)}
        return JSONResponse({"jsonrpc": "2.0", "id": body.id, "error": fault})
    return JSONResponse({"jsonrpc": "2.0", "id": body.id, "result": result})


async def _answer(ask: ReadContext, said: RpcMessage) -> dict[str, Any]:
    match said.method:
        case "initialize":
            requested = said.params.get("protocolVersion")
            return {
                "protocolVersion": requested if requested in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "cadenza", "version": "1"},
                "instructions": INSTRUCTIONS,
            }
        case "ping":
            return {}
        case "tools/list":
            tools = list_tools(ask.request.app, ask.caller)
            return {"tools": [_show(tools[name]) for name in sorted(tools)]}
        case "tools/call":
            return await _call(ask, said.params)
        case _:
            raise Refusal(-32601, f"{said.method!r} is not a method of this server")


async def _call(ask: ReadContext, params: Mapping[str, Any]) -> dict[str, Any]:
    name = str(params.get("name"))[:LONGEST_NAME]
    tool = list_tools(ask.request.app, ask.caller).get(name)
    arguments = params.get("arguments") or {}
    if tool is None:
        raise Refusal(-32602, f"there is no tool {name!r} for you: see tools/list")
    if not isinstance(arguments, dict):
        raise Refusal(-32602, "arguments must be an object")
    given: dict[str, Any] = dict(arguments)
    word = given.pop(CONFIRM, None)
    try:
        if not tool.declared.changes:
            return _told(await _do(ask, tool, given))
        if word is None:
            return await _dry_run(ask, tool, given)
        key = _check(ask, tool, given, str(word))
        return _told(await _do(ask, tool, given, key=key))
    except BadArguments as fault:
        raise Refusal(-32602, str(fault)) from fault


async def _dry_run(ask: ReadContext, tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """Try it and say what would happen; what cannot be tried is only described."""
    if tool.has_dry_run:
        tried = await _do(ask, tool, given, dry_run=True)
        if not tried.is_good:
            return _told(tried)
        shown = tried.body
    else:
        tool.request(given, workspace_id=ask.workspace_id, dry_run=False)
        shown = {"note": "This cannot be tried beforehand."}
    word = await _word(ask, tool, given)
    return _text(
        {"dry_run": shown, CONFIRM: word, "next": "Nothing was changed. Ask, then confirm."}
    )


async def _do(
    ask: ReadContext,
    tool: Tool,
    given: Mapping[str, Any],
    *,
    dry_run: bool = False,
    key: str | None = None,
) -> Answered:
    call = tool.request(given, workspace_id=ask.workspace_id, dry_run=dry_run)
    headers = {} if key is None else {"idempotency-key": key}
    return await call_internally(ask.request, call, headers)


async def _word(ask: ReadContext, tool: Tool, given: Mapping[str, Any]) -> str:
    until = await ask.read(lambda _, now: now + GOOD_FOR)
    said = msgspec.json.encode([_name(tool, given), until]).decode()
    return ask.runtime.keyring.seal(said, row=_row(ask))


def _check(ask: ReadContext, tool: Tool, given: Mapping[str, Any], word: str) -> str:
    """Return the idempotency key of a confirmed call: confirmed twice, it is done once."""
    try:
        said = ask.runtime.keyring.open(word, row=_row(ask))
        name, until = msgspec.json.decode(said, type=tuple[str, datetime])
    except (CannotOpen, msgspec.MsgspecError, ValueError):
        raise Refusal(-32602, "this confirm word is none of yours: call without it first") from None
    if name != _name(tool, given):
        raise Refusal(-32602, "the confirm word belongs to another call: call without it first")
    if until < ask.runtime.clock.now():
        raise Refusal(-32602, "the confirm word is too old: call without it first")
    return "mcp-" + sha256(word.encode()).hexdigest()[:40]


def _row(ask: ReadContext) -> str:
    return f"mcp:{ask.workspace_id}:{ask.by}"


def _name(tool: Tool, given: Mapping[str, Any]) -> str:
    said = msgspec.json.encode([tool.name, given], order="sorted")
    return sha256(said).hexdigest()


def _show(tool: Tool) -> dict[str, Any]:
    schema = tool.schema
    if tool.declared.changes:
        requested = {"type": "string", "description": "From the dry run: do it now"}
        schema = schema | {"properties": {**schema["properties"], CONFIRM: requested}}
    hints = {
        "readOnlyHint": not tool.declared.changes,
        "destructiveHint": tool.declared.method == "DELETE",
        "idempotentHint": True,
        "openWorldHint": False,
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema,
        "annotations": hints,
    }


def _told(answered: Answered) -> dict[str, Any]:
    return _text(answered.body, is_error=not answered.is_good)


def _text(value: Any, *, is_error: bool = False) -> dict[str, Any]:
    text = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if isinstance(value, dict) and not is_error:
        result["structuredContent"] = value
    return result
