"""What races need: a store that many processes share, those processes, and locks to hold."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.sqlite import SqliteStore
from tests.races.crew import Crew
from tests.races.hold import Holder

EIGHT = 8


@dataclass(frozen=True, slots=True)
class Shared:
    """A store that every hand of the crew has open too."""

    store: Store
    crew: Crew


@pytest.fixture(scope="session")
def hands() -> Iterator[Crew]:
    """Eight processes for the whole run: starting them costs more than a race."""
    crew = Crew(EIGHT)
    yield crew
    crew.dismiss()


@pytest.fixture(params=["sqlite", "postgres"])
async def shared(
    request: pytest.FixtureRequest, tmp_path: Path, hands: Crew
) -> AsyncIterator[Shared]:
    """One store, opened here and by eight other processes."""
    kind: str = request.param
    if kind == "postgres":
        address: str = request.getfixturevalue("postgres_database")
        store: Store = PostgresStore(address)
    else:
        address = str(tmp_path / "jobs.db")
        store = SqliteStore(address)
    await store.open()
    hands.all_do("open", kind=kind, address=address)
    yield Shared(store, hands)
    hands.all_do("close")
    await store.close()


@pytest.fixture
async def pair(postgres_database: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two stores with connections of their own on one database."""
    first, second = PostgresStore(postgres_database), PostgresStore(postgres_database)
    await first.open()
    await second.open()
    yield first, second
    await first.close()
    await second.close()


@pytest.fixture
async def holder(postgres_database: str) -> AsyncIterator[Holder]:
    """A third party that can hold rows and see who waits for them."""
    holding = await asyncpg.connect(postgres_database)
    watching = await asyncpg.connect(postgres_database)
    yield Holder(holding, watching)
    await holding.close()
    await watching.close()
