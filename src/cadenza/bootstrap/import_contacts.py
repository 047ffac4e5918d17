"""Reads files of contacts or recipient channels in the background, and takes imports back, as a job.

The file is fetched to the scratch folder; a spreadsheet becomes a CSV once, which is stored. Rows are read and checked
in a thread while the chunk before them is written. A run that is cut short goes on at the stored cursor; a dry run
begins again, as it changed nothing. Two runs of one import cannot both move the cursor.
"""

import asyncio
import hashlib
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cadenza.bootstrap.model import Runtime
from cadenza.contacts import import_rows, imports, undo_import
from cadenza.contacts.columns import Row, RowReader
from cadenza.contacts.fields import list_fields
from cadenza.contacts.import_rows import CHUNK, Moved, Step
from cadenza.contacts.imports import Import, NoSuchImport
from cadenza.contacts.model import contacts_lock
from cadenza.contacts.read_table import Chunk, Head, Unreadable, convert_xlsx, read_chunk, read_head
from cadenza.media.storage import NotStored, StorageFailed

log = logging.getLogger("cadenza.imports")
NAME = imports.JOB
EVERY = "41 * * * *"


@dataclass(frozen=True, slots=True)
class _Read:
    """A chunk with its rows understood."""

    chunk: Chunk
    rows: list[Row]


async def import_contacts(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Go on with one import, wherever it stands."""
    workspace_id, import_id = str(payload["workspace_id"]), str(payload["import_id"])
    there = await _find(runtime, workspace_id, import_id)
    if there is None or there.state not in ("trying", "running", "undoing"):
        return
    if there.state == "undoing":
        await _undo(runtime, there)
        return
    with tempfile.TemporaryDirectory(
        prefix="cadenza-import-", dir=runtime.library.desk.scratch
    ) as folder:
        try:
            head = await _fetch(runtime, there, Path(folder))
        except NotStored:
            head = Unreadable("gone", "The file is no longer stored: upload it again.")
        if isinstance(head, Unreadable):
            failed = partial(imports.fail_import, there=there, reason=head.message)
            await _run(runtime, workspace_id, failed)
            return
        await _read_all(runtime, there, Path(folder) / "table.csv", head)


async def _read_all(runtime: Runtime, there: Import, path: Path, head: Head) -> None:
    trying = there.state == "trying"
    if trying:
        there = await _restart(runtime, there)
    known = await runtime.operations.read(lambda tx, _: list_fields(tx, there.workspace_id))
    assert there.options is not None, "it was started"
    assert there.mapping is not None, "it was started"
    reader = RowReader(head.header, there.mapping, known, there.options.defaults)
    seen: set[int] | None = set() if trying else None
    begin, rows = there.read_offset, there.read_rows
    reading = _begin_read(runtime, there, path, head, reader, (begin or head.offset, rows))
    while True:
        read = await reading
        step = Step(begin, read.chunk.offset, read.chunk.rows)
        if not read.chunk.end:
            place = (read.chunk.offset, read.chunk.rows)
            reading = _begin_read(runtime, there, path, head, reader, place)
        about = {"workspace_id": there.workspace_id, "import_id": there.id}
        if there.kind == "contacts":
            operation = partial(
                import_rows.import_chunk, rows=read.rows, step=step, seen=seen, **about
            )
        else:
            operation = partial(
                import_rows.import_channels,
                records=read.chunk.records,
                step=step,
                dry_run=trying,
                **about,
            )
        moved = await _run(runtime, there.workspace_id, operation)
        if isinstance(moved, Moved):
            if not read.chunk.end:
                await reading
            return
        begin = step.offset
        if read.chunk.end:
            break
    state = "tried" if trying else "done"
    await _run(
        runtime, there.workspace_id, partial(imports.finish_import, there=there, state=state)
    )


def _begin_read(
    runtime: Runtime,
    there: Import,
    path: Path,
    head: Head,
    reader: RowReader,
    place: tuple[int, int],
) -> "asyncio.Future[_Read]":
    understand = reader.read if there.kind == "contacts" else None
    arguments = {"path": path, "head": head, "place": place, "understand": understand}
    return asyncio.ensure_future(runtime.library.threads.call(_read, arguments))


def _read(path: Path, head: Head, place: tuple[int, int], understand: Any) -> _Read:
    chunk = read_chunk(path, delimiter=head.delimiter, offset=place[0], rows=place[1], limit=CHUNK)
    return _Read(chunk, [] if understand is None else [understand(each) for each in chunk.records])


async def _restart(runtime: Runtime, there: Import) -> Import:
    """Begin a dry run at the first row."""
    again = partial(imports.restart_trial, workspace_id=there.workspace_id, import_id=there.id)
    await _run(runtime, there.workspace_id, again)
    return await _find(runtime, there.workspace_id, there.id) or there


async def _undo(runtime: Runtime, there: Import) -> None:
    about = {"workspace_id": there.workspace_id, "import_id": there.id}
    while await _run(runtime, there.workspace_id, partial(undo_import.undo_chunk, **about)):
        continue
    await _run(
        runtime, there.workspace_id, partial(imports.finish_import, there=there, state="undone")
    )


async def _fetch(runtime: Runtime, there: Import, folder: Path) -> Head | Unreadable:
    """Bring the CSV to the scratch folder; a spreadsheet is turned into one first, once."""
    threads, storage = runtime.library.threads, runtime.library.storage
    table = folder / "table.csv"
    if there.format == "csv" or await storage.size(there.table) is not None:
        await _download(runtime, there.table, table)
    else:
        sheet = folder / "sheet.xlsx"
        await _download(runtime, there.file, sheet)
        wrong = await threads.call(convert_xlsx, {"source": sheet, "target": table})
        if wrong is not None:
            return wrong
        digest = await threads.call(_digest, {"path": table})
        await storage.write(there.table, table, mime="text/csv", sha256=digest)
    head = await threads.call(read_head, {"path": table})
    if isinstance(head, Unreadable):
        return head
    if head.header[: len(there.header)] != there.header:
        return Unreadable("changed", "The file is no longer the one that was uploaded.")
    sized = partial(
        imports.set_table,
        workspace_id=there.workspace_id,
        import_id=there.id,
        size=table.stat().st_size,
        delimiter=head.delimiter,
    )
    await runtime.operations.run(sized)
    return head


async def _download(runtime: Runtime, name: str, path: Path) -> None:
    with path.open("wb") as file:
        async for piece in runtime.library.storage.pieces(name):
            await runtime.library.threads.call(_write, {"file": file, "piece": piece})


async def _find(runtime: Runtime, workspace_id: str, import_id: str) -> Import | None:
    found = await runtime.operations.read(
        lambda tx, _: imports.find_import(tx, workspace_id, import_id)
    )
    return None if isinstance(found, NoSuchImport) else found


async def _run(runtime: Runtime, workspace_id: str, operation: Any) -> Any:
    return await runtime.operations.run(operation, locks=[contacts_lock(workspace_id)])


async def sweep_imports(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Remove files and reports that have expired: the bytes first."""
    for each in await runtime.operations.read(imports.list_expired):
        try:
            for name in {each.file, each.table}:
                await runtime.library.storage.delete(name)
        except StorageFailed as error:
            log.warning("an import's file cannot be removed yet", extra={"error": str(error)})
            continue
        await runtime.operations.run(partial(imports.forget_import, there=each))


def _digest(path: Path) -> str:
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1024 * 1024):
            hashed.update(piece)
    return hashed.hexdigest()


def _write(file: BinaryIO, piece: bytes) -> None:
    file.write(piece)
