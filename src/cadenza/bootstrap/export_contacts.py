"""Writes an export of contacts in the background, and removes exports that have expired, as jobs.

Pages are read one after the other and written to a file in the scratch folder, CSV line by line, XLSX by openpyxl's
write-only sheet, so memory stays flat; then the storage takes the file whole.
"""

import hashlib
import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cadenza.bootstrap.model import Runtime
from cadenza.contacts import exports
from cadenza.contacts.audiences import NoSuchAudience
from cadenza.contacts.exports import ContactExport, export_cells, export_header, next_contacts
from cadenza.contacts.fields import list_fields
from cadenza.contacts.model import Invalid
from cadenza.core.cells import guard
from cadenza.db.export import csv_head, csv_line
from cadenza.media.storage import StorageFailed

log = logging.getLogger("cadenza.exports")
NAME = exports.JOB
EVERY = "43 * * * *"
MIME = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(slots=True)
class _CsvFile:
    """A CSV file on its way."""

    file: BinaryIO

    def write(self, rows: Sequence[Sequence[object]]) -> None:
        self.file.write(b"".join(csv_line(row) for row in rows))

    def close(self) -> None:
        self.file.close()


class _XlsxFile:
    """A spreadsheet on its way."""

    def __init__(self, path: Path) -> None:
        from openpyxl import Workbook

        self._path = path
        self._book = Workbook(write_only=True)
        self._sheet: Any = self._book.create_sheet("Contacts")

    def write(self, rows: Sequence[Sequence[object]]) -> None:
        for row in rows:
            self._sheet.append([_cell(value) for value in row])

    def close(self) -> None:
        self._book.save(self._path)


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, str):  # control characters are not allowed in XML
        return guard("".join(sign for sign in value if sign.isprintable() or sign in "\t\n"))
    return value


async def export_contacts(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Write one export, unless it is done or gone."""
    home, id_ = str(payload["workspace_id"]), str(payload["export_id"])
    there = await runtime.operations.read(lambda tx, _: exports.find_export(tx, home, id_))
    if not isinstance(there, ContactExport) or there.state == "ready":
        return
    try:
        with tempfile.TemporaryDirectory(
            prefix="cadenza-export-", dir=runtime.library.desk.scratch
        ) as folder:
            path = Path(folder) / f"contacts.{there.format}"
            rows = await _write(runtime, there, path)
            digest = await runtime.library.threads.call(_digest, {"path": path})
            size = path.stat().st_size
            await runtime.library.storage.write(
                there.file, path, mime=MIME[there.format], sha256=digest
            )
    except Exception as error:
        stored = isinstance(error, StorageFailed)
        reason = "the storage did not take it" if stored else "it broke off"
        await runtime.operations.run(partial(exports.fail_export, there=there, reason=reason))
        raise
    done = partial(exports.finish_export, there=there, rows=rows, bytes_=size)
    await runtime.operations.run(done)


async def _write(runtime: Runtime, there: ContactExport, path: Path) -> int:
    call = runtime.library.threads.call
    known = await runtime.operations.read(lambda tx, _: list_fields(tx, there.workspace_id))
    header = export_header(known)
    if there.format == "csv":
        file = path.open("wb")
        file.write(csv_head(header))
        out: _CsvFile | _XlsxFile = _CsvFile(file)
    else:
        out = _XlsxFile(path)
        out.write([header])
    done, after = 0, ""
    while True:
        found = await runtime.operations.read(
            lambda tx, _, after=after: next_contacts(tx, there, after)
        )
        if isinstance(found, NoSuchAudience | Invalid):
            raise LookupError("the audience or a field of the filter is gone")  # noqa: TRY004 - no type is wrong
        people, then = found
        await call(out.write, {"rows": [export_cells(each, known) for each in people]})
        done += len(people)
        await runtime.operations.run(partial(exports.tell_progress, there=there, done=done))
        if then is None:
            break
        after = then
    await call(out.close, {})
    return done


async def sweep_contact_exports(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Remove what has expired: the bytes first."""
    for each in await runtime.operations.read(exports.list_expired):
        try:
            await runtime.library.storage.delete(each.file)
        except StorageFailed as error:
            log.warning("an export cannot be removed yet", extra={"error": str(error)})
            continue
        await runtime.operations.run(partial(exports.forget_export, there=each))


def _digest(path: Path) -> str:
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1024 * 1024):
            hashed.update(piece)
    return hashed.hexdigest()
