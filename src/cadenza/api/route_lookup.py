"""Finds the route of an address by its fixed words, instead of trying a hundred in turn.

Routes whose fixed words stand at the same places share a table: `GET /…/accounts/{id}/queue` is found by
its method, its length and the words that it has. The framework then judges the one found, in the order of
declaration as always. A route is made when it is first found: a command that makes two calls makes two of
them, not two hundred. What isn't found this way (a wrong method, a page, nothing) goes the framework's way. At first
an index says which routes there are, so that not all need to be imported; once they are, they themselves do.
A call from inside the application names its route itself, and nothing is looked up.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from fastapi.routing import APIRoute, APIRouter
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

Shape = tuple[str, int]  # a method, and how many parts an address has
Places = tuple[int, ...]  # which of its parts are fixed words
INSIDE = "cadenza.inside"  # an `InternalCall`: it is served in the turn of the request that asks


class Planned(NamedTuple):
    """A route that can be made; `make` gives the same one each time, or None for one that is no more."""

    method: str
    path: str
    make: Callable[[], APIRoute | None]


Found = list[tuple[int, Planned]]
Tables = dict[Shape, dict[Places, dict[tuple[str, ...], Found]]]


class Finder(APIRouter):
    """A router that looks routes up, and makes them then."""

    def __init__(
        self,
        planned: Callable[[], Sequence[Planned]],
        *,
        indexed: Sequence[Planned] = (),
        last: BaseRoute,
    ) -> None:
        self._planned, self._last = planned, last
        self._made: list[BaseRoute] | None = None
        self._tables = _write_tables(indexed)
        super().__init__(redirect_slashes=False)

    @property
    def routes(self) -> list[BaseRoute]:
        """Every route, in order; whoever asks for them has them all made."""
        if self._made is None:
            planned = self._planned()
            made = (each.make() for each in planned)
            self._made = [*(each for each in made if each is not None), self._last]
            self._tables = _write_tables(planned)
        return self._made

    @routes.setter
    def routes(self, _: object) -> None:
        """Leave what the framework begins with: an empty list."""

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
        parts = path.split("/")
        found: Found = []
        for places, table in self._tables.get((method, len(parts)), {}).items():
            found += table.get(tuple([parts[place] for place in places]), ())
        made = (planned.make() for _, planned in sorted(found, key=itemgetter(0)))
        return [each for each in made if each is not None]


def _write_tables(planned: Iterable[Planned]) -> Tables:
    tables: Tables = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for order, each in enumerate(planned):
        if ":" in each.path:
            break  # from here on the order decides, which the framework knows
        parts = each.path.split("/")
        places = tuple(n for n, part in enumerate(parts) if "{" not in part)
        words = tuple(parts[place] for place in places)
        tables[each.method, len(parts)][places][words].append((order, each))
    return tables
