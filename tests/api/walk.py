"""Every route of the application, filled with ids and examples, so that a new route is walked at once."""

import re
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cadenza.api.routes import Route, declaration_of
from tests.api.conftest import Place
from tests.product_tables import product_tables

PLACE = re.compile(r"{(\w+)}")
# Marks of use, which a look may leave behind.
TOUCHED = {"session": {"seen_at", "idle_until"}, "api_key": {"last_used_at"}}


class Unknown(dict[str, str]):
    """Ids for resources that the fixture does not furnish: they are nobody's."""

    def __missing__(self, key: str) -> str:
        return f"unknown-{key}"


@dataclass(frozen=True)
class Step:
    """One route, ready to be asked."""

    declared: Route
    path: str
    operation: dict[str, Any]
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.declared.method} {self.path}"

    def body(self) -> Any:
        """The example of its body, or None where it takes none."""
        schema = self.schema()
        return schema["examples"][0] if schema else None

    def schema(self) -> dict[str, Any]:
        """What its JSON body may be; empty where it takes none."""
        content = self.operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        if "$ref" in schema:
            return self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def filters(self) -> list[str]:
        """The names that may stand behind the ? of its address."""
        requested = self.operation.get("parameters", ())
        return [each["name"] for each in requested if each["in"] == "query"]

    def fill(self, ids: dict[str, str]) -> str:
        return PLACE.sub(lambda found: ids[found[1]], self.path)


def steps(app: FastAPI) -> list[Step]:
    """List every route of the application."""
    document = app.openapi()
    found = []
    for route in app.routes:
        if getattr(route, "name", "") == "web":
            continue  # the web app's own files, the same for everybody
        assert isinstance(route, APIRoute), f"{route} is not guarded"
        declared = declaration_of(route.endpoint)
        operation = document["paths"].get(route.path, {}).get(declared.method.lower(), {})
        found.append(Step(declared, route.path, operation, document))
    return found


async def everything(place: Place, *, but: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    """All rows of all the product's tables, but for marks of use."""
    found: dict[str, list[str]] = {}
    for name in product_tables().keys() - but:
        rows = await place.rows(f"SELECT * FROM {name}")
        marks = TOUCHED.get(name, set())
        kept = ({key: row[key] for key in row if key not in marks} for row in rows)
        found[name] = sorted(str(sorted(row.items(), key=str)) for row in kept)
    return found
