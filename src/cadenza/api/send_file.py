"""Gives out a stored file: whole or a stretch of it, and so that no browser runs what is in it.

One range a request (RFC 9110); several are answered with the whole. What people uploaded is never trusted:
its type is the one that its content showed, it is not sniffed, and a sandbox keeps it from doing anything.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from cadenza.api.problems import Problem, not_found
from cadenza.media.storage import Storage

SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_QUOTED = re.compile(r"[^A-Za-z0-9._ -]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is given out, and how."""

    file: str
    mime: str
    name: str
    etag: str
    download: bool = True
    cache: str = "private, max-age=86400, immutable"
    more: dict[str, str] | None = None


async def send_file(request: Request, storage: Storage, given: Given) -> Response:
    """Answer with a file, a stretch of it, or that the caller has it already."""
    size = await storage.size(given.file)
    if size is None:
        raise not_found("file")
    headers = {
        "accept-ranges": "bytes",
        "cache-control": given.cache,
        "content-disposition": _disposition(given),
        "content-security-policy": SANDBOX,
        "etag": given.etag,
        "x-content-type-options": "nosniff",
        **(given.more or {}),
    }
    if request.headers.get("if-none-match") in (given.etag, "*"):
        return Response(status_code=304, headers=headers)
    stretch = _stretch(request, size, given.etag)
    start, length = stretch or (0, size)
    headers["content-length"] = str(length)
    if stretch is not None:
        headers["content-range"] = f"bytes {start}-{start + length - 1}/{size}"
    status = 200 if stretch is None else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=given.mime)
    pieces = storage.pieces(given.file, start=start, length=length)
    return StreamingResponse(pieces, status, headers, media_type=given.mime)


def _stretch(request: Request, size: int, etag: str) -> tuple[int, int] | None:
    """Return where to start and how much to give; None: all of it."""
    asked = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if asked is None or request.headers.get("if-range", etag) != etag:
        return None
    first, last = asked[1], asked[2]
    if not first and not last:
        return None
    if not first:  # the last so many bytes
        length = min(int(last), size)
        start, end = size - length, size - 1
    else:
        start, end = int(first), min(int(last), size - 1) if last else size - 1
    if last and first and int(last) < int(first):
        return None
    if start >= size or end < start:
        raise Problem(
            416,
            "no_such_range",
            f"The file has {size} bytes.",
            headers={"content-range": f"bytes */{size}"},
        )
    return start, end - start + 1


def _disposition(given: Given) -> str:
    way = "attachment" if given.download else "inline"
    plain = _QUOTED.sub("_", given.name.encode("ascii", "replace").decode())
    return f"{way}; filename=\"{plain}\"; filename*=UTF-8''{quote(given.name, safe='')}"
