"""Which settings a product command works with, and how the house is opened around it."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cadenza.bootstrap import House, open_house
from cadenza.config.load import load
from cadenza.config.model import Settings
from cadenza.engine.errors import StoreUnavailable
from cadenza.providers.registry import all_providers


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What every product command takes."""

    config: Annotated[Path | None, Parameter(show_default=False)] = None
    """The settings file; without it CADENZA_CONFIG, then cadenza.toml here."""
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False
    """Print JSON, for programs. Times are UTC."""

    def settings(self) -> Settings:
        """Read the settings."""
        return load(self.config, environ=os.environ, providers=all_providers())


USUAL = Chosen()


@asynccontextmanager
async def opened_house(chosen: Chosen) -> AsyncGenerator[House]:
    """Open the house for one command; one that was never started is not made by looking at it."""
    settings = chosen.settings()
    file = sqlite_file(settings)
    if file is not None and not file.exists():
        raise StoreUnavailable(
            f"there is no database at {file} yet: start `cadenza worker`, or `cadenza db upgrade`"
        )
    async with open_house(settings) as house:
        yield house


def sqlite_file(settings: Settings) -> Path | None:
    """Return the database's file, or None where it is a server."""
    address = settings.database_address
    if not address.startswith("sqlite:///"):
        return None
    return Path(address.removeprefix("sqlite:///"))
