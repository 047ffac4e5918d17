"""Which settings a product command works with, and what is opened around it: the database, or the whole application.

What a command needs is imported when it runs: the application is hundreds of modules, the database a few.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cadenza.config.load import load
from cadenza.config.model import Settings
from cadenza.core.clock import SystemClock
from cadenza.providers.names import provider_names
from cadenza.sql.errors import Unavailable

if TYPE_CHECKING:
    from cadenza.bootstrap.model import Runtime
    from cadenza.sql.transactions import Operations


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOptions:
    """What every product command takes."""

    config: Annotated[Path | None, Parameter(show_default=False)] = None
    """The settings file; without it CADENZA_CONFIG, then cadenza.toml here."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""

    def settings(self) -> Settings:
        """Read the settings."""
        return load(self.config, environ=os.environ, providers=provider_names())


USUAL = ConfigOptions()


@asynccontextmanager
async def opened_runtime(chosen: ConfigOptions) -> "AsyncGenerator[Runtime]":
    """Open the application for one command; one that was never started is not made by looking at it."""
    from cadenza.bootstrap.runtime import open_runtime

    settings = chosen.settings()
    _must_exist(settings)
    async with open_runtime(settings) as runtime:
        yield runtime


@dataclass(frozen=True, slots=True)
class Database:
    """The product's database alone, for commands that need nothing else."""

    settings: Settings
    operations: "Operations"


@asynccontextmanager
async def opened_database(chosen: ConfigOptions) -> AsyncGenerator[Database]:
    """Open the database for one command; one that was never started is not made by looking at it."""
    from cadenza.db.open import open_product

    settings = chosen.settings()
    _must_exist(settings)
    async with open_product(settings.database_address, clock=SystemClock()) as operations:
        yield Database(settings, operations)


def _must_exist(settings: Settings) -> None:
    file = sqlite_file(settings)
    if file is not None and not file.exists():
        raise Unavailable(
            f"there is no database at {file} yet: start `cadenza worker`, or `cadenza db upgrade`"
        )


def sqlite_file(settings: Settings) -> Path | None:
    """Return the database's file, or None where it is a server."""
    address = settings.database_address
    if not address.startswith("sqlite:///"):
        return None
    return Path(address.removeprefix("sqlite:///"))
