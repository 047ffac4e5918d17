"""Documents of the classic interface for tests: the same few calls over memory and SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from cadenza.engine.classic import (
    ClassicSqliteTable,
    ClassicStore,
    Document,
    MemoryDocuments,
    Scheduler,
)
from cadenza.engine.classic.sqlite import to_milliseconds
from cadenza.engine.testing.clock import VirtualClock
from cadenza.sql.sqlite import SqliteDatabase

MISSING = object()


class Shelf(Protocol):
    def store(self, condition: Mapping[str, object] | None = None) -> ClassicStore: ...
    def add(
        self,
        name: str,
        sleep_until: datetime | None,
        *,
        interval: str | None = None,
        repeat_until: datetime | None = None,
        auto_remove: bool = False,
        handle: bool = False,
    ) -> int: ...
    def sleeps_until(self, id: int) -> Any: ...
    def set_sleep(self, id: int, until: datetime | None) -> None: ...


class MemoryShelf:
    def __init__(self, clock: VirtualClock) -> None:
        self._documents = MemoryDocuments()

    def store(self, condition: Mapping[str, object] | None = None) -> ClassicStore:
        store = MemoryDocuments(condition=condition)
        store.documents = self._documents.documents
        return store

    def add(
        self,
        name: str,
        sleep_until: datetime | None,
        *,
        interval: str | None = None,
        repeat_until: datetime | None = None,
        auto_remove: bool = False,
        handle: bool = False,
    ) -> int:
        return self._documents.add(
            name=name,
            sleepUntil=sleep_until,
            interval=interval,
            repeatUntil=repeat_until,
            autoRemove=auto_remove,
            handle=handle,
        )

    def sleeps_until(self, id: int) -> Any:
        found = self._documents.documents.get(id)
        return MISSING if found is None else found["sleepUntil"]

    def set_sleep(self, id: int, until: datetime | None) -> None:
        self._documents.documents[id]["sleepUntil"] = until


class SqliteShelf:
    def __init__(self, clock: VirtualClock) -> None:
        self.database = SqliteDatabase(":memory:", clock=clock)
        self.database.run_sync(
            lambda tx, _: tx.execute(
                "CREATE TABLE chores (id INTEGER PRIMARY KEY, name TEXT, sleep_until INTEGER,"
                " interval TEXT, repeat_until INTEGER, auto_remove INTEGER, handle INTEGER)"
            )
        )

    def store(self, condition: Mapping[str, object] | None = None) -> ClassicStore:
        return ClassicSqliteTable(self.database, "chores", condition=condition)

    def add(
        self,
        name: str,
        sleep_until: datetime | None,
        *,
        interval: str | None = None,
        repeat_until: datetime | None = None,
        auto_remove: bool = False,
        handle: bool = False,
    ) -> int:
        row = (name, _ms(sleep_until), interval, _ms(repeat_until), auto_remove, handle)

        def insert(tx: sqlite3.Connection, _now: int) -> int:
            cursor = tx.execute(
                "INSERT INTO chores (name, sleep_until, interval, repeat_until, auto_remove, handle)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

        return self.database.run_sync(insert)

    def sleeps_until(self, id: int) -> Any:
        row = self.database.read_sync(
            lambda tx, _: tx.execute(
                "SELECT sleep_until FROM chores WHERE id = ?", (id,)
            ).fetchone()
        )
        if row is None:
            return MISSING
        return None if row[0] is None else datetime.fromtimestamp(row[0] / 1000).astimezone()

    def set_sleep(self, id: int, until: datetime | None) -> None:
        self.database.run_sync(
            lambda tx, _: tx.execute(
                "UPDATE chores SET sleep_until = ? WHERE id = ?", (_ms(until), id)
            )
        )


def _ms(instant: datetime | None) -> int | None:
    return None if instant is None else to_milliseconds(instant)


class Diary:
    """A scheduler whose every call is written down, with the virtual seconds since the start."""

    def __init__(self, shelf: Shelf, clock: VirtualClock) -> None:
        self.shelf = shelf
        self.clock = clock
        self.calls: list[str] = []
        self.ran: list[tuple[str, float]] = []
        self.errors: list[Exception] = []
        self.handler: Callable[[Document], Any] = lambda _: None

    def scheduler(
        self, condition: Mapping[str, object] | None = None, **settings: Any
    ) -> Scheduler:
        hooks: dict[str, Any] = {
            "on_start": lambda: self.calls.append("start"),
            "on_stop": lambda: self.calls.append("stop"),
            "on_idle": lambda: self.calls.append("idle"),
            "on_error": self._fail,
        }
        return Scheduler(
            self.shelf.store(condition),
            on_document=self._handle,
            clock=self.clock,
            **{**hooks, **settings},
        )

    async def stop(self, scheduler: Scheduler, seconds: float = 10) -> None:
        """Stop while time goes on, as a handler that sleeps needs it."""
        stopping = asyncio.ensure_future(scheduler.stop())
        await self.clock.advance(seconds)
        await stopping

    def _handle(self, document: Document) -> Any:
        self.calls.append("document")
        self.ran.append((document.data["name"], self.clock.monotonic()))
        return self.handler(document)

    def _fail(self, error: Exception) -> None:
        self.calls.append("error")
        self.errors.append(error)
