"""Which store a command talks to, and how it is opened and closed around it.

A SQLite file that is not there is not made by looking at it: a wrong path would then seem an empty
store. Only commands that add something make it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cadenza.engine.client import Engine
from cadenza.engine.errors import StoreUnavailable

DEFAULT = "sqlite:///cadenza.sqlite3"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What nearly every command takes."""

    store: Annotated[str, Parameter(env_var="CADENZA_STORE")] = DEFAULT
    """Where the jobs are: sqlite:///FILE, postgresql://…, redis://HOST/0 or mongodb://HOST/DATABASE."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""
    zone: str | None = None
    """Show times in this zone too, for example Europe/Berlin."""


HERE = Place()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Afar:
    """A server to ask instead of a store."""

    server: Annotated[str | None, Parameter(env_var="CADENZA_SERVER", show_default=False)] = None
    """The address of a server to ask instead."""
    key: Annotated[str | None, Parameter(env_var="CADENZA_KEY", show_default=False)] = None
    """The API key for the server."""


HERE_ONLY = Afar()


@asynccontextmanager
async def opened(place: Place, *, create: bool = False) -> AsyncGenerator[Engine]:
    """Open the store for one command."""
    address = place.store if create else found_store(place.store)
    async with Engine(address) as engine:
        yield engine


def found_store(address: str) -> str:
    """Return the store that is meant: the one that is named, else the product's, if it is there."""
    if address == DEFAULT and not Path(DEFAULT.removeprefix("sqlite:///")).exists():
        from cadenza.cli.settings import USUAL, sqlite_file

        settings = USUAL.settings()
        file = sqlite_file(settings)
        if file is None or file.exists():
            return settings.database_address
    must_exist(address)
    return address


def must_exist(address: str) -> None:
    """Refuse a SQLite file that is not there."""
    scheme, _, rest = address.partition(":///")
    if scheme == "sqlite" and rest and not Path(rest).exists():
        message = (
            f"there is no store at {address}: run a worker or enqueue something first, "
            "or name another with --store or CADENZA_STORE"
        )
        raise StoreUnavailable(message)
