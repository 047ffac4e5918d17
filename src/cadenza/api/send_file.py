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
class FileToSend:
    """What is given out, and how."""

    file: str
    mime: str
    name: str
    etag: str
    download: bool = True
    cache: str = "private, max-age=86400, immutable"
    more: dict[str, str] | None = None


async def send_file(request: Request, storage: Storage, to_send: FileToSend) -> Response:
    """Answer with a file, a stretch of it, or that the caller has it already."""
    size = await storage.size(to_send.file)
    if size is None:
        raise not_found("file")
    headers = {
        "accept-ranges": "bytes",
        "cache-control": to_send.cache,
        "content-disposition": _disposition(to_send),
        "content-security-policy": SANDBOX,
        "etag": to_send.etag,
        "x-content-type-options": "nosniff",
        **(to_send.more or {}),
    }
    if request.headers.get("if-none-match") in (to_send.etag, "*"):
        return Response(status_code=304, headers=headers)
    stretch = _stretch(request, size, to_send.etag)
    start, length = stretch or (0, size)
    headers["content-length"] = str(length)
    if stretch is not None:
        headers["content-range"] = f"bytes {start}-{start + length - 1}/{size}"
    status = 200 if stretch is None else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=to_send.mime)
    pieces = storage.pieces(to_send.file, start=start, length=length)
    return StreamingResponse(pieces, status, headers, media_type=to_send.mime)


def _stretch(request: Request, size: int, etag: str) -> tuple[int, int] | None:
    """Return where to start and how much to give; None: all of it."""
    requested = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if requested is None or request.headers.get("if-range", etag) != etag:
        return None
    first, last = requested[1], requested[2]
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


def _disposition(to_send: FileToSend) -> str:
    way = "attachment" if to_send.download else "inline"
    plain = _QUOTED.sub("_", to_send.name.encode("ascii", "replace").decode())
    return f"{way}; filename=\"{plain}\"; filename*=UTF-8''{quote(to_send.name, safe='')}"
