"""A SQLite file of the test's own, opened, and a table of letters in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql.sqlite import SqliteDatabase
from tests.sql.letters import create_letters


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "post.db")


@pytest.fixture
def database(path: str) -> Iterator[SqliteDatabase]:
    with SqliteDatabase(path, clock=SystemClock()) as database:
        database.run_sync(create_letters)
        yield database


@pytest.fixture(params=["file", "memory"])
def either(request: pytest.FixtureRequest, path: str) -> Iterator[SqliteDatabase]:
    """The database on a file with its threads, and the inline one of the simulator."""
    place = path if request.param == "file" else ":memory:"
    with SqliteDatabase(place, clock=SystemClock()) as database:
        database.run_sync(create_letters)
        yield database
