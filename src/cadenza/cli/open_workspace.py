"""Where a command's workspace is: on a server, with a key, or in the local database, as its owner.

The same commands work in both ways, because both speak the HTTP API, through the same client. A server that runs
beside the local database is asked through its socket; without one the command opens the application itself. Accounts
may be named by id, by handle or by network, as long as that names one. What a command needs is imported when it runs.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from cadenza.cli.codes import UsageError
from cadenza.client.errors import ClientError

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Client, Workspace


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceOptions:
    """What every command about a workspace takes."""

    server: Annotated[str | None, Parameter(env_var="CADENZA_SERVER", show_default=False)] = None
    """The address of a server; without it the local database is used."""
    key: Annotated[str | None, Parameter(env_var="CADENZA_KEY", show_default=False)] = None
    """The API key for the server."""
    workspace: Annotated[str | None, Parameter(env_var="CADENZA_WORKSPACE", show_default=False)] = (
        None
    )
    """The workspace, by id or name; needed where there are several. A key knows its own: leave it out."""
    as_: Annotated[str | None, Parameter(name="--as", env_var="CADENZA_AS", show_default=False)] = (
        None
    )
    """On the local database: act as the person of this address, not as the owner."""
    config: Annotated[Path | None, Parameter(show_default=False)] = None
    """The settings file of the local database."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""


USUALLY = WorkspaceOptions()
Quiet = Annotated[bool, Parameter(alias="-q", negative="", show_default=False)]


@asynccontextmanager
async def opened_workspace(options: WorkspaceOptions) -> "AsyncGenerator[Workspace]":
    """Open the way to the workspace for one command."""
    async with reached_installation(options) as client:
        if not options.server:
            found = await client.workspaces.list_own()
            yield client.workspace(pick_workspace(found, options.workspace))
        elif options.workspace is None:
            yield await client.home()
        else:
            yield client.workspace(options.workspace)


@asynccontextmanager
async def reached_installation(options: WorkspaceOptions) -> "AsyncGenerator[Client]":
    """Open the way to the installation, for what concerns no single workspace."""
    if options.server:
        from cadenza.client.core import connect

        address = _address(options.server)
        if not options.key:
            raise UsageError(
                "a server wants an API key: give --key, or set CADENZA_KEY. "
                "`cadenza key make NAME` on the server's machine makes one"
            )
        async with connect(address, key=options.key) as client:
            yield client
        return
    from cadenza.cli.settings import ConfigOptions, opened_database, opened_runtime

    chosen = ConfigOptions(config=options.config)
    path = chosen.settings().socket
    if path.is_socket():
        from cadenza.cli.local_server import is_listening, open_local_server

        if await is_listening(path):
            async with (
                opened_database(chosen) as database,
                open_local_server(
                    database.settings, database.operations, person=options.as_
                ) as client,
            ):
                if client is not None:
                    yield client
                    return
    from cadenza.cli.local import open_local

    async with (
        opened_runtime(chosen) as runtime,
        open_local(runtime, person=options.as_) as client,
    ):
        yield client


def _address(server: str) -> str:
    if "://" in server and not server.startswith(("http://", "https://")):
        raise UsageError(f"{server} is no address of a server: it begins with https:// or http://")
    if not server.startswith(("http://", "https://")):
        raise UsageError(
            f"{server} is no address: write https://{server} (or http://, if it is so)"
        )
    return server


def pick_workspace(found: "Sequence[types.Workspace]", wanted: str | None) -> str:
    """Return the id of the workspace that a word names; without one, the only one."""
    if wanted is None and len(found) == 1:
        return found[0]["id"]
    names = ", ".join(f"{each['name']} ({each['id']})" for each in found)
    if wanted is None:
        raise ClientError(f"name a workspace with --workspace; there are: {names or 'none'}")
    fitting = [each["id"] for each in found if wanted in (each["id"], each["name"])]
    if len(fitting) != 1:
        raise ClientError(f"{wanted!r} names no workspace of yours; there are: {names or 'none'}")
    return fitting[0]


async def find_account(home: "Workspace", name: str) -> "types.Account":
    """Return the account that a word names: its id, its handle, or its network if it is the only one."""
    from cadenza.core.suggest import did_you_mean

    accounts = await home.accounts.list()
    for field in ("id", "handle", "name", "provider"):
        fitting = [each for each in accounts if each.get(field) == name]
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            which = ", ".join(f"{each['handle']} ({each['id']})" for each in fitting)
            raise ClientError(f"{name!r} names several accounts, name one by its id: {which}")
    known = [each["handle"] for each in accounts] + [each["provider"] for each in accounts]
    raise ClientError(
        f"there is no account {name!r} here.{did_you_mean(name, known)} "
        "`cadenza account list` shows them"
    )


def find_named(found: "Iterable[Any]", name: str, what: str) -> Any:
    """Return the one that an id or a name names; else refuse, with a guess."""
    from cadenza.core.suggest import did_you_mean

    rows: list[Any] = list(found)
    fitting = [each for each in rows if name in (each["id"], each["name"])]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        which = ", ".join(each["id"] for each in fitting)
        raise ClientError(f"{name!r} names several: name one {what} by its id: {which}")
    guess = did_you_mean(name, [each["name"] for each in rows])
    raise ClientError(f"there is no {what} {name!r} here.{guess} `cadenza {what} list` shows them")


async def find_accounts(home: "Workspace", names: Sequence[str]) -> list[str] | None:
    """Return the ids of several; None where none was named."""
    return [(await find_account(home, name))["id"] for name in names] or None


def places(ids: Sequence[str] | None) -> Any:
    """Write accounts as a body names them; None stands for those that the server chooses."""
    return None if ids is None else [{"account_id": each} for each in ids]


def at(text: str | None, zone: str | None = None) -> str:
    """Word an instant of an answer: in UTC, or on the clock of a zone."""
    from cadenza.core.zones import get_zone, local

    if not text:
        return "–"
    instant = datetime.fromisoformat(text)
    if zone is None:
        return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}Z"
    return f"{local(instant, get_zone(zone)):%a %Y-%m-%d %H:%M %Z}"


def short(text: str | None, most: int = 60) -> str:
    """Cut a text to one line."""
    line = " ".join((text or "").split())
    return line if len(line) <= most else line[: most - 1] + "…"
