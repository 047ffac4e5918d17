"""Serves the built web app from the package: its files by name, its one page for every other address.

Files with a hash in their name never change and are kept by browsers for a year; the page itself is
always asked for again. Addresses of the API and of missing files stay 404, so that a typing error is not
answered with a page.
"""

from importlib.resources import files
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

UI = Path(str(files("cadenza"))) / "_ui"
NOT_PAGES = (".well-known/", "api/", "assets/", "media/", "healthz", "readyz", "metrics")
MISSING = (
    "The web app is not built into this installation.\n"
    "From a checkout: make web. Otherwise install a released wheel.\n"
    "The API (/api/v1) and the command line work without it.\n"
)


class Pages(StaticFiles):
    """The app's files; any other address is one of its screens."""

    def __init__(self) -> None:
        super().__init__(directory=UI)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with a file, or with the one page."""
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or path.startswith(NOT_PAGES):
                raise
            return _page()
        if path.startswith("assets/"):
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        elif response.status_code == 404:
            return _page()
        else:
            response.headers["cache-control"] = "no-cache"
        return response


def _page() -> Response:
    return FileResponse(UI / "index.html", headers={"cache-control": "no-cache"})


def pages_route() -> BaseRoute:
    """Serve the app, or say how to build it; after all other routes."""
    if (UI / "index.html").is_file():
        return Mount("/", Pages(), name="web")

    async def missing(_request: object) -> Response:
        return PlainTextResponse(MISSING, 503)

    return Route("/", missing, name="web")
