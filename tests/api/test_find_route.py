"""Looking routes up finds what trying them in turn would find, for every declared address."""

from pathlib import Path

from fastapi.routing import APIRoute
from starlette.routing import Match

from cadenza.api.app import create_app
from cadenza.api.find_route import Finder
from cadenza.bootstrap import open_house
from cadenza.config.model import Settings


def address_of(route: APIRoute) -> str:
    parts = route.path.split("/")
    return "/".join("some-id" if part.startswith("{") else part for part in parts)


async def test_the_route_found_is_the_first_that_matches(tmp_path: Path) -> None:
    async with open_house(Settings(data=tmp_path)) as house:
        router = create_app(house).router
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
