"""Every route that a key may use, as a tool for an agent: made from the same declarations.

A tool's input is the route's path, query and body in one object; the workspace is the one of the
connection and is not asked for. Files and streams are left out: an agent sends words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cadenza.api.internal_client import InternalCall
from cadenza.api.routes import Route, declaration_of
from cadenza.people.model import Caller, Role

OURS = "workspace_id"  # comes with the connection
DRY_RUN = "dry_run"
SCHEMAS = "#/components/schemas/"
LONGEST_VALUE = 4096  # characters of a path or query value
MOST_FAULTS = 20  # named in one refusal


class BadArguments(ValueError):
    """The arguments do not fit the tool; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One route as an agent sees it."""

    name: str
    description: str
    schema: dict[str, Any]
    declared: Route
    route: APIRoute
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    body: str | None  # the argument that is the body, where there is one
    has_dry_run: bool

    def request(
        self, arguments: Mapping[str, Any], *, workspace_id: str, dry_run: bool
    ) -> InternalCall:
        """Return the call that these arguments mean, or raise `BadArguments`."""
        unknown = set(arguments) - {*self.in_path, *self.in_query, *filter(None, [self.body])}
        missing = set(self.in_path) - set(arguments)
        if unknown or missing:
            faults = [f"{_short(name)} is unknown" for name in sorted(unknown)[:MOST_FAULTS]]
            faults += [f"{name!r} is missing" for name in sorted(missing)]
            raise BadArguments(f"{self.name}: {', '.join(faults)}")
        in_path = {name: self._text(name, arguments[name]) for name in self.in_path}
        requested = [
            (name, arguments[name]) for name in self.in_query if arguments.get(name) is not None
        ]
        in_query = [
            (name, self._text(name, each))
            for name, value in requested
            for each in (value if isinstance(value, list) else [value])
        ]
        if dry_run:
            in_query.append((DRY_RUN, "true"))
        return InternalCall(
            route=self.route,
            method=self.declared.method,
            in_path={**in_path, OURS: workspace_id},
            in_query=in_query,
            body=arguments.get(self.body or ""),
        )

    def _text(self, name: str, value: object) -> str:
        """Write a path or query value as it stands in an address; only plain values can stand there."""
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str | int | float):
            raise BadArguments(f"{self.name}: {name!r} must be a text or a number")
        text = str(value)
        if len(text) > LONGEST_VALUE:
            raise BadArguments(f"{self.name}: {name!r} is longer than {LONGEST_VALUE} characters")
        return text


def list_tools(app: FastAPI, caller: Caller) -> dict[str, Tool]:
    """List what this caller may do in a workspace."""
    return {name: tool for name, tool in _all_tools(app).items() if _may(tool.declared, caller)}


def _all_tools(app: FastAPI) -> dict[str, Tool]:
    """Make the tools of all routes, once for an application."""
    made: dict[str, Tool] | None = getattr(app.state, "tools", None)
    if made is None:
        document = app.openapi()
        found = (
            _tool(route, declaration_of(route.endpoint), document)
            for route in app.routes
            if isinstance(route, APIRoute)
        )
        made = app.state.tools = {tool.name: tool for tool in found if tool is not None}
    return made


def _may(declared: Route, caller: Caller) -> bool:
    role = caller.role
    if not isinstance(declared.needs, Role) or role is None or not role.covers(declared.needs):
        return False
    return caller.scopes is None or declared.scope in caller.scopes


def _tool(route: APIRoute, declared: Route, document: Mapping[str, Any]) -> Tool | None:
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
    in_query = [each for each in parameters if each["in"] == "query" and each["name"] != DRY_RUN]
    body = operation.get("requestBody")
    properties = {each["name"]: each["schema"] for each in (*in_path, *in_query)}
    required = [each["name"] for each in (*in_path, *in_query) if each.get("required")]
    if body is not None:
        properties["body"] = body["content"]["application/json"]["schema"]
        required.append("body")
    has_dry_run = any(each["name"] == DRY_RUN for each in parameters)
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(
        name=operation["operationId"],
        description=operation.get("description") or operation["summary"],
        schema=_alone({**schema, "additionalProperties": False}, document),
        declared=declared,
        route=route,
        in_path=tuple(each["name"] for each in in_path),
        in_query=tuple(each["name"] for each in in_query),
        body=None if body is None else "body",
        has_dry_run=has_dry_run,
    )


LEFT_OUT = frozenset({"campaigns_follow_progress", "events_follow", "mcp_speak"})


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


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
