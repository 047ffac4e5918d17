"""Bodies, before anything is made of them: bounded, JSON by name, UTF-8, not deep, storable.

What a database cannot keep (NUL, half surrogates) or a parser should not see (a thousand brackets,
NaN) is refused here with a 4xx, for every route alike. Uploads are counted while they stream.
"""

import json
from collections.abc import Iterator
from typing import Any

from fastapi import Request
from starlette.types import Message

from cadenza.api.declare import Declared
from cadenza.api.problems import Fault, Problem

DEEPEST = 32


async def read_body(request: Request, declared: Declared) -> bytes:
    """Read and judge the body of a request; uploads are left in the stream, but counted."""
    if not declared.writes:
        return b""
    length = request.headers.get("content-length")
    if length is not None and (not length.isdecimal() or int(length) > declared.most):
        raise _too_large(declared)
    if declared.takes == "upload":
        _count_stream(request, declared)
        return b""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > declared.most:
            raise _too_large(declared)
        parts.append(part)
    body = b"".join(parts)
    request._body = body  # noqa: SLF001 - so that the framework reads what was judged
    if body:
        _judge_type(request)
        judge_json(body)
    return body


def judge_json(body: bytes) -> None:
    """Refuse what is no JSON of ours."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad("not_utf8", "The body is not UTF-8.") from error
    if _depth(text) > DEEPEST:
        raise _bad("too_deep", f"The body is nested deeper than {DEEPEST} levels.")
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _bad("not_json", "The body is not JSON.") from error
    for path, each in _texts(value, "body"):
        if "\x00" in each or not _encodes(each):
            fault = Fault(path=path, says="it holds characters that cannot be kept", code="text")
            raise Problem(422, "invalid_input", f"{path}: {fault.says}", errors=[fault])


def _judge_type(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem(415, "not_json", "Send the body as application/json.")


def _depth(text: str) -> int:
    depth = deepest = 0
    quoted = skip = False
    for letter in text:
        if skip:
            skip = False
        elif quoted:
            skip = letter == "\\"
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield path, key
            yield from _texts(each, f"{path}.{key}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _texts(each, f"{path}.{place}")


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _count_stream(request: Request, declared: Declared) -> None:
    receive = request._receive  # noqa: SLF001 - the only way to count what streams
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > declared.most:
            raise _too_large(declared)
        return message

    request._receive = counted  # noqa: SLF001 - as above


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _bad(code: str, says: str) -> Problem:
    return Problem(400, code, says)


def _too_large(declared: Declared) -> Problem:
    return Problem(413, "too_large", f"A body may have {declared.most} bytes here.")
