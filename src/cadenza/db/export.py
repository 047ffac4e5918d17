"""A workspace's rows as files in one ZIP, streamed: what is its own, and nothing that opens a door.

Every table and column that goes out is named (`exported.py`); a test asks about each new one, so that
nothing leaves by default and nothing is forgotten. Rows are read page by page, each page a snapshot of its own,
so memory stays bounded and no long transaction stands in the way of sending. Limit: what changes while
the export runs may be in one file and not yet in another; the bytes of media are not inside.
"""

import codecs
import csv
import io
import zipfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec

from cadenza.core.cells import guard
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

PAGE = 500
VERSION = 1
Shape: TypeAlias = Callable[[Row], Row]
Page: TypeAlias = Callable[[Tx, str, Row | None], list[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that goes out: these columns of it, in the order of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    kept_back: tuple[str, ...] = ()  # columns that stay here
    json: tuple[str, ...] = ()  # columns that hold JSON
    flags: tuple[str, ...] = ()  # columns that are true or false
    shape: Shape | None = None  # takes out of a row what must not leave
    workspace: str = "workspace_id"

    def page(self, tx: Tx, workspace_id: str, after: Row | None) -> list[Row]:
        """Return the next rows behind `after`."""
        keys = ", ".join(self.key)
        behind = ""
        if after is not None:
            behind = f"AND ({keys}) > ({', '.join(f':after_{name}' for name in self.key)})"
        return tx.all(
            f"""
            SELECT {", ".join(dict.fromkeys((*self.columns, *self.key)))} FROM {self.name}
            WHERE {self.workspace} = :workspace_id {behind}
            ORDER BY {keys} LIMIT {PAGE}
            """,  # noqa: S608 - names of tables and columns from this file alone
            workspace_id=workspace_id,
            **{f"after_{name}": value for name, value in (after or {}).items() if name in self.key},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of the ZIP: pages of rows, and how a row is written."""

    name: str
    page: Page
    write: Callable[[Row], bytes]
    head: bytes = b""


@dataclass(slots=True)
class _Sink:
    """Where the ZIP writes to: it cannot go back, so its bytes can leave at once."""

    waiting: list[bytes] = field(default_factory=list[bytes])

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """There is nothing between the ZIP and the list."""

    def drain(self) -> bytes:
        data = b"".join(self.waiting)
        self.waiting.clear()
        return data


def as_json_lines(table: Table) -> File:
    """Return a table as JSON Lines, JSON columns unpacked."""

    def write(row: Row) -> bytes:
        shaped = _shaped(table, row)
        for name in table.json:
            if shaped[name] is not None:
                shaped[name] = msgspec.Raw(shaped[name].encode())
        return msgspec.json.encode(shaped) + b"\n"

    return File(name=f"{table.name}.jsonl", page=table.page, write=write)


def as_csv(table: Table) -> File:
    """Return a table as CSV that a spreadsheet opens and does not run."""

    def write(row: Row) -> bytes:
        return csv_line(_shaped(table, row).values())

    return File(
        name=f"{table.name}.csv", page=table.page, write=write, head=csv_head(table.columns)
    )


def csv_head(columns: Iterable[str]) -> bytes:
    """Return the first line, with the mark by which spreadsheets know UTF-8."""
    return codecs.BOM_UTF8 + csv_line(columns)


def csv_line(values: Iterable[object]) -> bytes:
    """Return one line as RFC 4180 says, each text guarded."""
    out = io.StringIO()
    csv.writer(out).writerow(_cell(value) for value in values)
    return out.getvalue().encode()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case str():
            return guard(value)
        case _:
            return str(value)


def _shaped(table: Table, row: Row) -> Row:
    shaped = table.shape(row) if table.shape else row
    flags = {name: bool(shaped[name]) for name in table.flags if shaped[name] is not None}
    return {name: flags.get(name, shaped[name]) for name in table.columns}


async def stream_zip(
    operations: Operations,
    workspace_id: str,
    files: Sequence[File],
    *,
    counted: Callable[[int], None] | None = None,
) -> AsyncIterator[bytes]:
    """Yield the ZIP's bytes, a page at a time; `counted` hears how many rows a page had."""
    now = await operations.read(lambda _, now: now)
    sink, counts = _Sink(), dict[str, int]()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # pyright: ignore[reportArgumentType, reportCallIssue]
        for each in files:
            with archive.open(_entry(each.name, now), "w", force_zip64=True) as out:
                out.write(each.head)
                counts[each.name] = 0
                async for rows in _pages(operations, workspace_id, each.page):
                    out.write(b"".join(each.write(row) for row in rows))
                    counts[each.name] += len(rows)
                    if counted is not None:
                        counted(len(rows))
                    yield sink.drain()
        about = {"version": VERSION, "workspace_id": workspace_id, "exported_at": now}
        archive.writestr(_entry("about.json", now), msgspec.json.encode({**about, "rows": counts}))
    yield sink.drain()


async def _pages(operations: Operations, workspace_id: str, page: Page) -> AsyncIterator[list[Row]]:
    after: Row | None = None
    while rows := await operations.read(lambda tx, _, after=after: page(tx, workspace_id, after)):
        yield rows
        if len(rows) < PAGE:
            return
        after = rows[-1]


def _entry(name: str, now: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=now.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
