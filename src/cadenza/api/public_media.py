"""Media for networks that fetch them: signed addresses that open one file for a while, and list nothing.

Anyone may ask; the token alone opens (`media/public.py`). A wrong one is not found, one whose time is over
is gone. No cookie or key counts here, and nothing is said of whose file it is.
"""

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from cadenza.api.problems import Problem, not_found
from cadenza.api.request_context import Reader
from cadenza.api.routes import ANYONE, Resource
from cadenza.api.send_file import FileToSend, send_file
from cadenza.media.public import PATH, NotPublic, open_public

routes = Resource("public_media", PATH)
Token = Annotated[str, Path(min_length=1, max_length=700)]
Name = Annotated[str, Path(min_length=1, max_length=300)]
FILE = {200: {"description": "The file", "content": {"application/octet-stream": {}}}}
OPENED = {
    "cross-origin-resource-policy": "cross-origin",
    "x-robots-tag": "noindex, noarchive",
}


@routes.get("/{token}/{name}", needs=ANYONE, response_class=Response, responses=FILE)
async def fetch(ask: Reader, token: Token, name: Name) -> Response:
    """Give out the file that the token opens."""
    return await _open(ask, token)


@routes.route("HEAD", "/{token}/{name}", needs=ANYONE, response_class=Response, responses=FILE)
async def look(ask: Reader, token: Token, name: Name) -> Response:
    """Say how large it is, and of which type."""
    return await _open(ask, token)


async def _open(ask: Reader, token: str) -> Response:
    library = ask.runtime.library
    found = open_public(library.signer, token, now=ask.runtime.clock.now())
    if isinstance(found, NotPublic):
        raise Problem(410, "expired", "This address has ended.") if found.expired else not_found()
    to_send = FileToSend(
        file=found.file,
        mime=found.mime,
        name=f"media.{found.file.rpartition('.')[2]}",
        etag=f'"{found.file.rpartition("/")[2].partition("-")[0][:32]}"',
        download=False,
        cache="private, max-age=300",
        more=OPENED,
    )
    return await send_file(ask.request, library.storage, to_send)
