"""Every route that a key may use, as a tool for an agent: made from the same declarations.

A tool's input is the route's path, query and body in one object; the workspace is the one of the
connection and is not asked for. Files and streams are left out: an agent sends words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cadenza.api.declare import Declared
from cadenza.people.model import Caller, Role

OURS = "workspace_id"  # comes with the connection
REHEARSED = "dry_run"
SCHEMAS = "#/components/schemas/"


class BadArguments(ValueError):
    """The arguments do not fit the tool; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One route as an agent sees it."""

    name: str
    description: str
    schema: dict[str, Any]
    declared: Declared
    path: str
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    body: str | None  # the argument that is the body, where there is one
    rehearses: bool

    def request(
        self, arguments: Mapping[str, Any], *, workspace_id: str, dry_run: bool
    ) -> tuple[str, Any]:
        """Return the address and the body of the call."""
        unknown = set(arguments) - {*self.in_path, *self.in_query, *filter(None, [self.body])}
        missing = set(self.in_path) - set(arguments)
        if unknown or missing:
            faults = [f"{name!r} is unknown" for name in sorted(unknown)]
            faults += [f"{name!r} is missing" for name in sorted(missing)]
            raise BadArguments(f"{self.name}: {', '.join(faults)}")
        values = {name: quote(str(arguments[name]), safe="") for name in self.in_path}
        address = self.path.format(**values, **{OURS: quote(workspace_id, safe="")})
        asked = [(name, arguments[name]) for name in self.in_query if name in arguments]
        query = [
            (name, _plain(each))
            for name, value in asked
            for each in (value if isinstance(value, list) else [value])
        ]
        if dry_run:
            query.append((REHEARSED, "true"))
        return address + (f"?{urlencode(query)}" if query else ""), arguments.get(self.body or "")


def list_tools(app: FastAPI, caller: Caller) -> dict[str, Tool]:
    """List what this caller may do in a workspace."""
    document = app.openapi()
    found = (
        _tool(route, app.state.declared[route.endpoint], document)
        for route in app.routes
        if isinstance(route, APIRoute)
    )
    return {tool.name: tool for tool in found if tool is not None and _may(tool.declared, caller)}


def _may(declared: Declared, caller: Caller) -> bool:
    role = caller.role
    if not isinstance(declared.needs, Role) or role is None or not role.covers(declared.needs):
        return False
    return caller.scopes is None or declared.scope in caller.scopes


def _tool(route: APIRoute, declared: Declared, document: Mapping[str, Any]) -> Tool | None:
    operation = document["paths"].get(route.path, {}).get(declared.method.lower())
    if operation is None or declared.scope is None or declared.takes != "json":
        return None
    if "application/json" not in operation["responses"].get("200", {}).get("content", {}) and (
        "201" not in operation["responses"] and "204" not in operation["responses"]
    ):
        return None
    if f"{{{OURS}}}" not in route.path or operation["operationId"] in LEFT_OUT:
        return None
    parameters: list[dict[str, Any]] = operation.get("parameters", [])
    in_path = [each for each in parameters if each["in"] == "path" and each["name"] != OURS]
    in_query = [each for each in parameters if each["in"] == "query" and each["name"] != REHEARSED]
    body = operation.get("requestBody")
    properties = {each["name"]: each["schema"] for each in (*in_path, *in_query)}
    required = [each["name"] for each in (*in_path, *in_query) if each.get("required")]
    if body is not None:
        properties["body"] = body["content"]["application/json"]["schema"]
        required.append("body")
    rehearses = any(each["name"] == REHEARSED for each in parameters)
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(
        name=operation["operationId"],
        description=operation.get("description") or operation["summary"],
        schema=_alone({**schema, "additionalProperties": False}, document),
        declared=declared,
        path=route.path,
        in_path=tuple(each["name"] for each in in_path),
        in_query=tuple(each["name"] for each in in_query),
        body=None if body is None else "body",
        rehearses=rehearses,
    )


LEFT_OUT = frozenset({"events_follow", "mcp_speak"})


def _alone(schema: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Make a schema that refers to nothing outside itself."""
    needed: dict[str, Any] = {}

    def turn(part: Any) -> Any:
        if isinstance(part, list):
            return [turn(each) for each in part]
        if not isinstance(part, dict):
            return part
        name = str(part.get("$ref", "")).removeprefix(SCHEMAS)
        if name and name not in needed:
            needed[name] = None
            needed[name] = turn(document["components"]["schemas"][name])
        return {
            key: f"#/$defs/{name}" if key == "$ref" else turn(value)
            for key, value in part.items()
            if key != "discriminator"
        }

    turned = turn(schema)
    return turned | {"$defs": needed} if needed else turned


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
