"""Where a command's workspace is: on a server, with a key, or in the local database, as its owner.

The same commands work in both ways, because both speak the HTTP API. Accounts may be named by id, by
handle or by network, as long as that names one.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cadenza.client.errors import ClientError
from cadenza.client.workspace import Data, Workspace
from cadenza.core.suggest import did_you_mean
from cadenza.core.zones import get_zone, local


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What every command about a workspace takes."""

    server: Annotated[str | None, Parameter(env_var="CADENZA_SERVER", show_default=False)] = None
    """The address of a server; without it the local database is used."""
    key: Annotated[str | None, Parameter(env_var="CADENZA_KEY", show_default=False)] = None
    """The API key for the server."""
    workspace: Annotated[str | None, Parameter(env_var="CADENZA_WORKSPACE", show_default=False)] = (
        None
    )
    """The workspace, by id or name; needed where there are several, and with a key."""
    as_: Annotated[str | None, Parameter(name="--as", env_var="CADENZA_AS", show_default=False)] = (
        None
    )
    """On the local database: act as the person of this address, not as the owner."""
    config: Annotated[Path | None, Parameter(show_default=False)] = None
    """The settings file of the local database."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""


USUALLY = Reach()


@asynccontextmanager
async def reached(reach: Reach) -> AsyncGenerator[Workspace]:
    """Open the way to the workspace for one command."""
    if reach.server is not None:
        from cadenza.client.core import connect

        if not reach.key:
            raise ClientError("a server wants an API key: give --key, or set CADENZA_KEY")
        if not reach.workspace:
            raise ClientError(
                "name the workspace of the key: give --workspace ID, or set CADENZA_WORKSPACE "
                "(`cadenza key make` shows it)"
            )
        async with connect(reach.server, key=reach.key) as client:
            yield client.workspace(reach.workspace)
        return
    from cadenza.cli.settings import Chosen, opened_house
    from cadenza.client.local import open_local

    async with (
        opened_house(Chosen(config=reach.config)) as house,
        open_local(house, person=reach.as_) as client,
    ):
        yield client.workspace(pick_workspace(await client.workspaces(), reach.workspace))


def pick_workspace(found: Sequence[Data], wanted: str | None) -> str:
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


async def find_account(home: Workspace, name: str) -> Data:
    """Return the account that a word names: its id, its handle, or its network if it is the only one."""
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


async def find_accounts(home: Workspace, names: Sequence[str]) -> list[str] | None:
    """Return the ids of several; None where none was named."""
    return [(await find_account(home, name))["id"] for name in names] or None


def at(text: str | None, zone: str | None = None) -> str:
    """Word an instant of an answer: in UTC, or on the clock of a zone."""
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
