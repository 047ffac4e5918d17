"""Finds the route of an address by its fixed words, instead of trying a hundred in turn.

Routes whose fixed words stand at the same places share a table: `GET /…/accounts/{id}/queue` is found by
its method, its length and the words that it has. The framework then judges the one found, in the order of
declaration as always. Whatever is not found so (a wrong method, a page, nothing) goes the framework's way.
A call from inside the application names its route itself, and nothing is looked up.
"""

from collections import defaultdict
from operator import itemgetter

from fastapi.routing import APIRoute, APIRouter
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

Shape = tuple[str, int]  # a method, and how many parts an address has
Places = tuple[int, ...]  # which of its parts are fixed words
Found = list[tuple[int, APIRoute]]
INSIDE = "cadenza.inside"  # an `InsideCall`: it is served in the turn of the request that asks


class Finder(APIRouter):
    """A router that looks routes up."""

    _known: int = -1
    _tables: dict[Shape, dict[Places, dict[tuple[str, ...], Found]]]

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to its route."""
        inside = scope.get(INSIDE)
        if inside is not None:
            scope.setdefault("router", self)
            scope["route"], scope["endpoint"] = inside.route, inside.route.endpoint
            scope["path_params"] = dict(inside.in_path)
            await inside.route.handle(scope, receive, send)
            return
        if scope["type"] == "http" and not scope.get("root_path"):
            for route in self.look_up(scope["method"], scope["path"]):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.setdefault("router", self)
                    scope.update(found)
                    await route.handle(scope, receive, send)
                    return
        await super().app(scope, receive, send)

    def look_up(self, method: str, path: str) -> list[APIRoute]:
        """Return the routes that an address may mean, in the order of declaration."""
        if self._known != len(self.routes):
            self._write_tables()
        parts = path.split("/")
        found: Found = []
        for places, table in self._tables.get((method, len(parts)), {}).items():
            found += table.get(tuple([parts[place] for place in places]), ())
        return [route for _, route in sorted(found, key=itemgetter(0))]

    def _write_tables(self) -> None:
        self._tables = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        for order, route in enumerate(self.routes):
            if not isinstance(route, APIRoute) or ":" in route.path:
                break  # from here on the order decides, which the framework knows
            parts = route.path.split("/")
            places = tuple(n for n, part in enumerate(parts) if "{" not in part)
            words = tuple(parts[place] for place in places)
            for method in route.methods or ():
                self._tables[method, len(parts)][places][words].append((order, route))
        self._known = len(self.routes)
