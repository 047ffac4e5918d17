"""Looking routes up finds what trying them in turn would find, for every declared address."""

from pathlib import Path

from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match, Route

from cadenza.api.app import create_app
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
    router = Finder([planned(path) for path in paths], last=Route("/", lambda _: Response()))
    assert made == []
    (found,) = router.look_up("GET", "/posts/p1")
    assert made == [found.path] == ["/posts/{id}"]
    made.clear()
    assert len(router.routes) == 4, "who asks for all has them all"
    assert made == paths
