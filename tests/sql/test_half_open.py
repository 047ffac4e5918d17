"""A PostgreSQL that is there and does not answer, and a client that is there and does not go on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import datetime

import asyncpg
import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql import postgres as settings
from cadenza.sql.errors import SqlError
from cadenza.sql.postgres import PostgresDatabase
from cadenza.sql.transactions import PostgresOperations
from cadenza.sql.tx import Tx
from tests.servers.postgres import PrivatePostgres


class Wire:
    """A cable to the server; while it is cut, both ends stay open and nothing passes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.whole = asyncio.Event()
        self.whole.set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _join(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        there, forth = await asyncio.open_connection("127.0.0.1", self._port)
        for reader, writer in ((here, forth), (there, back)):
            self._tasks.add(asyncio.create_task(self._pass_on(reader, writer)))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self.whole.wait()
                writer.write(data)
        writer.close()


@pytest.fixture
async def wire(postgres: PrivatePostgres) -> AsyncIterator[Wire]:
    wire = Wire(postgres.port)
    yield wire
    await wire.close()


def one(tx: Tx, _now: datetime) -> int:
    return tx.value("SELECT 1")


async def test_a_server_behind_a_cut_cable_is_given_up_on_and_met_again(
    postgres_database: str, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = postgres_database.partition("@/")[2].partition("?")[0]
    dsn = f"postgresql://postgres@127.0.0.1:{await wire.open()}/{name}"
    database = PostgresDatabase(dsn, clock=SystemClock())
    await database.open()
    operations = PostgresOperations(database)
    assert await operations.run(one) == 1
    monkeypatch.setattr(settings, "COMMAND_SECONDS", 3)
    for slot in database._slots:  # made with the patience of every day
        if slot.connection is not None:
            slot.connection.terminate()
    assert await operations.run(one) == 1

    wire.whole.clear()
    with pytest.raises(SqlError):  # and does not wait for ever
        await operations.run(one)

    wire.whole.set()
    assert await operations.run(one) == 1
    await database.close()


async def test_a_client_that_stands_still_in_its_transaction_loses_its_locks(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a worker that was stopped in the middle of a permit: the server ends its session."""
    database = PostgresDatabase(postgres_database, clock=SystemClock())
    await database.open()
    operations = PostgresOperations(database)
    await operations.run(lambda tx, _: tx.run("CREATE TABLE thing (id text)"))
    await operations.run(lambda tx, _: tx.run("INSERT INTO thing VALUES ('a')"))
    # Only the client that stands still has so little time: on a busy machine the others pause for longer too.
    monkeypatch.setitem(settings.SESSION, "idle_in_transaction_session_timeout", "300ms")
    stopped = await PostgresDatabase(postgres_database, clock=SystemClock()).connect()
    monkeypatch.undo()
    await stopped.execute("BEGIN; UPDATE thing SET id = 'b'")

    def change(tx: Tx, _now: datetime) -> int:
        return tx.run("UPDATE thing SET id = 'c' WHERE id = 'a'")

    async with asyncio.timeout(60):
        assert await operations.run(change) == 1
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await stopped.execute("COMMIT")
    stopped.terminate()  # its socket stays open on this side until then
    await database.close()
