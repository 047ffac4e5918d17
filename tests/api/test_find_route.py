"""Looking routes up finds what trying them in turn would find, for every declared address."""

import subprocess
import sys
from pathlib import Path

from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match, Route

from cadenza.api.app import create_app
from cadenza.api.resources import all_routes, declared_routes
from cadenza.api.route_index import INDEX
from cadenza.api.route_lookup import Finder, Planned
from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings


def address_of(route: APIRoute) -> str:
    parts = route.path.split("/")
    return "/".join("some-id" if part.startswith("{") else part for part in parts)


async def test_the_route_found_is_the_first_that_matches(tmp_path: Path) -> None:
    async with open_runtime(Settings(data=tmp_path)) as runtime:
        router = create_app(runtime).router
    assert isinstance(router, Finder)
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) > 100
    for route in routes:
        for method in route.methods or ():
            scope = {"type": "http", "method": method, "path": address_of(route), "root_path": ""}
            first = next(each for each in routes if each.matches(scope)[0] is Match.FULL)
            found = router.look_up(method, scope["path"])
            full = [each for each in found if each.matches(scope)[0] is Match.FULL]
            assert full[0] is first, f"{method} {route.path}"
            assert len(found) <= 3, "it is a look-up, not a walk"


def test_a_route_is_made_when_it_is_first_found() -> None:
    made: list[str] = []

    def planned(path: str) -> Planned:
        async def answer() -> str:
            return path

        def make() -> APIRoute:
            made.append(path)
            return APIRoute(path, answer, methods=["GET"])

        return Planned("GET", path, make)

    paths = ["/posts", "/posts/{id}", "/posts/{id}/why"]
    every = [planned(path) for path in paths]
    router = Finder(lambda: every, indexed=every, last=Route("/", lambda _: Response()))
    assert made == []
    (found,) = router.look_up("GET", "/posts/p1")
    assert made == [found.path] == ["/posts/{id}"]
    made.clear()
    assert len(router.routes) == 4, "who asks for all has them all"
    assert made == paths


def test_the_index_names_every_route_where_it_is() -> None:
    """Otherwise the command line imports all of them for each call that the index lacks."""
    declared = [(each.method, each.path, prefix, name) for prefix, name, each in declared_routes()]
    assert list(INDEX) == declared, "run `python -m cadenza.api.write_client`"


def test_a_route_that_the_index_lacks_or_has_too_many_of_is_found_all_the_same() -> None:
    (first, second, *_) = all_routes()
    gone = Planned(first.method, first.path, lambda: None)
    router = Finder(lambda: [first, second], indexed=[gone], last=Route("/", lambda _: Response()))
    address = {"type": "http", "method": first.method, "path": first.path, "root_path": ""}
    assert router.look_up(first.method, first.path) == []
    found = [each for each in router.routes if each.matches(address)[0] is Match.FULL]
    assert found == router.look_up(first.method, first.path) == [first.make()]


def test_one_route_does_not_import_the_others() -> None:
    """So a command without a server pays for what it calls."""
    ask = """
import sys
from cadenza.api.resources import indexed_routes
(route,) = [each for each in indexed_routes() if each.path == "/api/v1/workspaces" and each.method == "GET"]
route.make()
print(*sorted(sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "cadenza.api.workspaces" in loaded
    assert not loaded & {"cadenza.api.campaigns", "cadenza.api.posts", "cadenza.api.mcp"}
