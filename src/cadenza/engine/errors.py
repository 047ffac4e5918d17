"""What the engine refuses, and says how to put right.

Each error carries a `kind` (invalid, conflict, missing, unavailable) so that an edge such as
HTTP or the command line can answer without knowing the engine. Outcomes of jobs are values
(`outcomes.py`), not errors.
"""

import re
from collections.abc import Iterable
from typing import ClassVar

from cadenza.core.suggest import closest

_CREDENTIALS = re.compile(r"(?<=://).*@")
_TORN = re.compile(r"://[^@/?#]*:(?!\d*[/?#,])[^@/?#]*[/?#].*@")  # a word after : that is no port


class EngineError(Exception):
    """Something the caller can put right; nothing was stored."""

    kind: ClassVar[str] = "invalid"


class InvalidJob(EngineError, ValueError):
    """The job, schedule or limit as given cannot be taken."""


class UnknownName(EngineError, LookupError):
    """No task, queue, job or schedule of that name is known here."""

    kind = "missing"


class StoreUnavailable(EngineError):
    """The store cannot be reached just now; the caller may try again."""

    kind = "unavailable"


class MissingTrait(EngineError):
    """The configured store cannot do what was asked of it."""

    kind = "conflict"


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Say that `name` is unknown, with the nearest known one where there is one."""
    candidates = sorted(str(word) for word in known)
    near = closest(name, candidates)
    if near is not None:
        return f"unknown {what} {name!r}; did you mean {near!r}?"
    return f"unknown {what} {name!r}; known: {', '.join(candidates) or 'none'}"


def shown(address: str) -> str:
    """Return an address as texts may show it: without who signs in, how, and what is set."""
    return _CREDENTIALS.sub("", address).partition("?")[0]


def refuse_torn(address: str) -> None:
    """Refuse an address whose password holds what ends a host's name: drivers would take it apart."""
    if _TORN.search(address):
        raise InvalidJob(unreadable(address))


def unreadable(address: str) -> str:
    """Say that an address cannot be read; a driver's own words may hold half of a password."""
    return (
        f"cannot read the address {shown(address)!r}: host, port or database is not as it should be; "
        "write / : ? # @ of a password as %2F %3A %3F %23 %40"
    )
