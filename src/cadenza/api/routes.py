"""A resource is one file with one `Resource`; a route is one declaration, which says who may use it.

`needs` is a role in the workspace of the path (`Role.EDITOR`), or a door that knows no workspace:
`ANYONE`, `PERSON` (somebody signed in), `KEY` (any key), `INSTANCE` (an owner of the installation). `scope` is what a
key must hold. What is declared here is enforced in `enter.py` before the body is read, shown in the OpenAPI
document, and walked by the tests; a route without it cannot be made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.responses import Response

from cadenza.people.model import Role

Handler = TypeVar("Handler", bound=Callable[..., Any])
MIB = 1024 * 1024
ANONYMOUS = 16 * 1024  # bytes of a body that anyone may send: what they fill in is a short form
PROBLEM = {
    "description": "Refused: problem details say why and what to do",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class Access(StrEnum):
    """Who is let in where no workspace is named."""

    ANYONE = "anyone"
    PERSON = "person"
    KEY = "key"
    INSTANCE = "instance"


ANYONE, PERSON, KEY, INSTANCE = Access.ANYONE, Access.PERSON, Access.KEY, Access.INSTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route as it was declared."""

    method: str
    path: str
    handler: Callable[..., Any]
    needs: Role | Access
    scope: str | None  # None: no key may
    takes: Literal["json", "upload"]
    most: int  # bytes of a body
    looks: bool  # it is a POST for its body's sake alone
    from_any_site: (
        bool  # other sites' pages may send it: it goes by no cookie and no right of the visitor
    )
    options: dict[str, Any]

    @property
    def writes(self) -> bool:
        """Say whether it is sent as what changes something: guarded against other sites, with a body."""
        return self.method != "GET"

    @property
    def changes(self) -> bool:
        """Say whether it changes something."""
        return self.writes and not self.looks


_declared: dict[Callable[..., Any], Route] = {}


def declaration_of(handler: Callable[..., Any]) -> Route:
    """Return how the route of a handler was declared."""
    return _declared[handler]


@dataclass(slots=True)
class Resource:
    """The routes of one file."""

    tag: str
    prefix: str = ""
    declared: list[Route] = field(default_factory=list[Route])

    def route(
        self,
        method: str,
        path: str,
        *,
        needs: Role | Access,
        scope: str | None = None,
        takes: Literal["json", "upload"] = "json",
        most: int | None = None,
        looks: bool = False,
        from_any_site: bool = False,
        **options: Any,
    ) -> Callable[[Handler], Handler]:
        """Declare a route; `options` are FastAPI's own (`status_code`, `summary`, …)."""
        assert not from_any_site or needs is Access.ANYONE, (
            "another site must not act for a visitor"
        )
        usual = ANONYMOUS if needs is Access.ANYONE else MIB

        def declare(handler: Handler) -> Handler:
            declared = Route(
                method=method,
                path=self.prefix + path,
                handler=handler,
                needs=needs,
                scope=scope,
                takes=takes,
                most=usual if most is None else most,
                looks=looks,
                from_any_site=from_any_site,
                options=options,
            )
            self.declared.append(declared)
            _declared[handler] = declared
            return handler

        return declare

    def get(
        self, path: str = "", *, needs: Role | Access, scope: str | None = None, **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a route that looks and changes nothing."""
        return self.route("GET", path, needs=needs, scope=scope, **options)

    def post(
        self, path: str = "", *, needs: Role | Access, scope: str | None = None, **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a route that makes or does something."""
        return self.route("POST", path, needs=needs, scope=scope, **options)

    def put(
        self, path: str = "", *, needs: Role | Access, scope: str | None = None, **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a route that replaces something."""
        return self.route("PUT", path, needs=needs, scope=scope, **options)

    def patch(
        self, path: str = "", *, needs: Role | Access, scope: str | None = None, **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a route that changes what is given."""
        return self.route("PATCH", path, needs=needs, scope=scope, **options)

    def delete(
        self, path: str = "", *, needs: Role | Access, scope: str | None = None, **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a route that takes something away."""
        return self.route("DELETE", path, needs=needs, scope=scope, **options)


def make_route(tag: str, each: Route, *, prefix: str, route_class: Any) -> APIRoute:
    """Make the framework's route of a declaration."""
    router = APIRouter()
    handler = each.handler
    options: dict[str, Any] = dict(each.options)
    if options.get("status_code") == 204:
        options.setdefault("response_class", Response)
    router.add_api_route(
        prefix + each.path,
        handler,
        methods=[each.method],
        route_class_override=route_class,
        tags=[tag],
        operation_id=f"{tag}_{handler.__name__}",
        responses={"4XX": PROBLEM, "5XX": PROBLEM} | options.pop("responses", {}),
        openapi_extra=_openapi(each) | options.pop("openapi_extra", {}),
        **options,
    )
    (made,) = router.routes
    assert isinstance(made, APIRoute)
    return made


def _openapi(declared: Route) -> dict[str, Any]:
    extra: dict[str, Any] = {"x-needs": declared.needs.value}
    if declared.scope is not None:
        extra["x-scope"] = declared.scope
    if declared.needs is Access.ANYONE:
        return extra | {"security": []}
    if declared.needs is Access.KEY:
        return extra | {"security": [{"key": []}]}
    ways: list[dict[str, list[str]]] = [{"session": []}]
    if declared.scope is not None:
        ways.append({"key": []})
    return extra | {"security": ways}
