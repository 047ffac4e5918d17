"""Which store or server a command talks to, and how it is opened and closed around it.

A SQLite file that is not there is not made by looking at it: a wrong path would then seem an empty
store. Only commands that add something make it. A store and a server at once are refused: nobody
should pause the queues of one who meant the other.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from cyclopts import Parameter

from cadenza.cli.codes import UsageError
from cadenza.core.recurrence import Preview
from cadenza.engine.client import Engine
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Gate, Job, Schedule, Tally
from cadenza.engine.store import Changed
from cadenza.engine.why import Why

DEFAULT = "sqlite:///cadenza.sqlite3"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOption:
    """What nearly every command takes."""

    store: Annotated[str, Parameter(env_var="CADENZA_STORE")] = DEFAULT
    """Where the jobs are: sqlite:///FILE, postgresql://…, redis://HOST/0 or mongodb://HOST/DATABASE."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""
    zone: str | None = None
    """Show times in this zone too, for example Europe/Berlin."""


HERE = StoreOption()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOption:
    """A server to ask instead of a store."""

    server: Annotated[str | None, Parameter(env_var="CADENZA_SERVER", show_default=False)] = None
    """The address of a server to ask instead."""
    key: Annotated[str | None, Parameter(env_var="CADENZA_KEY", show_default=False)] = None
    """The API key for the server."""


HERE_ONLY = ServerOption()


class Jobs(Protocol):
    """What can be looked at and changed in both ways: an `Engine` has it, and `RemoteJobs`."""

    async def get(self, id: int) -> Job:
        """Show one job."""
        ...

    async def find(self, **wanted: Any) -> list[Job]:
        """List jobs, newest first."""
        ...

    async def why(self, id: int) -> Why:
        """Say why a job does not run now."""
        ...

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        ...

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        ...

    async def schedules(self) -> list[Schedule]:
        """List schedules by name."""
        ...

    async def preview(self, name: str, n: int = 5) -> tuple[Preview, ...]:
        """Show a schedule's next occurrences."""
        ...

    async def retry(self, *ids: int) -> list[Changed]:
        """Run finished jobs again, waiting ones now."""
        ...

    async def cancel(self, *ids: int, reason: str = ...) -> list[Changed]:
        """Cancel waiting jobs; ask the workers of running ones to stop."""
        ...

    async def redrive(
        self, *, queue: str | None = None, task: str | None = None, limit: int = 1000
    ) -> list[int]:
        """Bring failed jobs back."""
        ...

    async def pause(self, queue: str, lane: str | None = None, *, reason: str = ...) -> Gate:
        """Claim nothing more of a queue or lane."""
        ...

    async def resume(self, queue: str, lane: str | None = None) -> Gate:
        """Open a queue or lane."""
        ...


def asks_server(place: StoreOption, remote: ServerOption) -> bool:
    """Say whether a server is asked; refuse to choose between two places."""
    if remote.server and place.store != DEFAULT:
        raise UsageError(
            "say one place: --store (or CADENZA_STORE) or --server (or CADENZA_SERVER), not both"
        )
    return bool(remote.server)


def refuse_server(remote: ServerOption, act: str) -> None:
    """Refuse to do over a server what only the store itself can."""
    if remote.server:
        raise UsageError(
            f"a server {act}: leave out --server (or CADENZA_SERVER) and name the store with --store, "
            "on a machine that reaches it"
        )


@asynccontextmanager
async def opened_jobs(place: StoreOption, remote: ServerOption) -> AsyncGenerator[Jobs]:
    """Open the way to the jobs, in a store or on a server, for one command."""
    if not asks_server(place, remote):
        async with opened(place) as engine:
            yield engine
        return
    from cadenza.cli.open_workspace import WorkspaceOptions, reached_installation
    from cadenza.cli.remote_jobs import RemoteJobs

    async with reached_installation(
        WorkspaceOptions(server=remote.server, key=remote.key)
    ) as client:
        yield RemoteJobs(client)


@asynccontextmanager
async def opened(place: StoreOption, *, create: bool = False) -> AsyncGenerator[Engine]:
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
