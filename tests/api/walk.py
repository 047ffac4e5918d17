"""Every route of the application, filled with ids and examples, so that a new route is walked at once."""

import re
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cadenza.api.declare import Declared

PLACE = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Step:
    """One route, ready to be asked."""

    declared: Declared
    path: str
    operation: dict[str, Any]
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.declared.method} {self.path}"

    def body(self) -> Any:
        """The example of its body, or None where it takes none."""
        content = self.operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema["examples"][0] if schema else None

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
        declared = app.state.declared[route.endpoint]
        operation = document["paths"].get(route.path, {}).get(declared.method.lower(), {})
        found.append(Step(declared, route.path, operation, document))
    return found
