"""Bodies, before anything is made of them: bounded, JSON by name, UTF-8, not deep, storable.

What a database cannot keep (NUL, half surrogates) or a parser should not see (a thousand brackets,
NaN) is refused here with a 4xx, for every route alike. Keys and values are counted in the raw text, at the
speed of a search, before anything is built from them. Uploads are counted while they stream.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from fastapi import Request
from starlette.types import Message

from cadenza.api.problems import Fault, Problem
from cadenza.api.routes import Access, Route

DEEPEST = 32
MOST_VALUES = 50_000  # a queue's order names 20,000 posts
MOST_KEYS = 5_000
MOST_KEYS_OF_STRANGERS = 50
# A text, or what is left of it if it does not end; it never steps back, so it takes one pass.
_TEXT = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_BAD_ESCAPE = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)


async def read_body(request: Request, declared: Route) -> bytes:
    """Read and judge the body of a request; uploads are left in the stream, but counted."""
    if not declared.writes:
        return b""
    if announces_too_much(request, declared):
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
        judge_json(body, keys=_most_keys(declared))
    return body


def announces_too_much(request: Request, declared: Route) -> bool:
    """Say whether a request's head already tells that its body is refused."""
    length = request.headers.get("content-length")
    if length is None or not declared.writes:
        return False
    return not length.isdecimal() or int(length) > declared.most


def judge_json(body: bytes, *, keys: int = MOST_KEYS) -> None:
    """Refuse what is no JSON of ours."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad("not_utf8", "The body is not UTF-8.") from error
    _judge_size(_TEXT.sub("", text), keys)
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _bad("not_json", "The body is not JSON.") from error
    if not _BAD_ESCAPE.search(text):
        return  # only an escape can bring in what cannot be kept
    for path, each in _texts(value, "body"):
        if "\x00" in each or not _encodes(each):
            fault = Fault(path=path, message="it holds characters that cannot be kept", code="text")
            raise Problem(422, "invalid_input", f"{path}: {fault.message}", errors=[fault])


def _judge_size(bare: str, keys: int) -> None:
    """Refuse what is too deep or holds too much; `bare` is the body without its texts."""
    if bare.count(":") > keys:
        raise _bad("too_many_keys", f"The body has more than {keys} keys.")
    if bare.count(",") + bare.count("[") + bare.count("{") > MOST_VALUES:
        raise _bad("too_many_values", f"The body has more than {MOST_VALUES} values.")
    if _is_too_deep(bare):
        raise _bad("too_deep", f"The body is nested deeper than {DEEPEST} levels.")


def _most_keys(declared: Route) -> int:
    return MOST_KEYS_OF_STRANGERS if declared.needs is Access.ANYONE else MOST_KEYS


def _judge_type(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem(415, "not_json", "Send the body as application/json.")


def _is_too_deep(bare: str) -> bool:
    depth = 0
    for found in _BRACKET.finditer(bare):
        depth += 1 if found[0] in "[{" else -1
        if not 0 <= depth <= DEEPEST:
            break  # below 0 it is no JSON, which is told elsewhere
    return depth > DEEPEST


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


def _count_stream(request: Request, declared: Route) -> None:
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


def _bad(code: str, message: str) -> Problem:
    return Problem(400, code, message)


def _too_large(declared: Route) -> Problem:
    return Problem(413, "too_large", f"A body may have {declared.most} bytes here.")
