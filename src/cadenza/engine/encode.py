"""Values as the JSON text that stores keep: payloads, outputs, progress.

JSON only, at most 1 MiB, no NUL and no NaN, so that every store keeps the same thing; what is not so
is refused with what to do about it, before anything is stored.
"""

import math
from collections.abc import Callable

import msgspec

from cadenza.engine.errors import InvalidJob

LARGEST = 1024 * 1024  # bytes of JSON; larger things belong in a file that the value names

_encode = msgspec.json.Encoder().encode


def to_json(value: object, *, what: str) -> str:
    """Encode as JSON text; refuse what is not JSON, too large, or what a store would keep differently."""
    try:
        raw = _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{what} is not JSON: {error}"
        raise InvalidJob(message) from error
    if len(raw) > LARGEST:
        message = f"{what} is {len(raw):,} bytes of JSON, more than {LARGEST:,}: store it elsewhere, pass its name"
        raise InvalidJob(message)
    if b"\\u0000" in raw and _holds(value, _is_nul):
        message = f"{what} holds a NUL character, which PostgreSQL cannot keep: remove it"
        raise InvalidJob(message)
    if b"null" in raw and _holds(value, _is_nan):
        message = f"{what} holds NaN or infinity, which JSON does not know: use null or a string"
        raise InvalidJob(message)
    return raw.decode()


def _is_nul(value: object) -> bool:
    return isinstance(value, str) and "\x00" in value


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _holds(value: object, bad: Callable[[object], bool]) -> bool:
    """Search a value that encoded well, so its depth is bounded; records are looked into as they are encoded."""
    return _found(msgspec.to_builtins(value), bad)


def _found(value: object, bad: Callable[[object], bool]) -> bool:
    if bad(value):
        return True
    if isinstance(value, dict):
        return any(_found(key, bad) or _found(item, bad) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_found(item, bad) for item in value)
    return False
