"""Reads tables of any length row by row: CSV from a byte on, so that a run goes on where another stopped.

UTF-8 with or without a mark; comma, semicolon or tab (found in the header, or said by Excel's `sep=`). A spreadsheet
(XLSX) is turned into such a CSV first, by openpyxl's streaming reader with its shared texts on the disk: other
readers (calamine) hold a whole sheet in memory, 550 MB for a million rows. A bad row is reported and stops no other.
"""

import array
import csv
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO

from cadenza.core.cells import unguard

LONGEST_CELL = 10_000
LONGEST_LINES = 200  # lines of one row: more means that a quotation mark is missing
MOST_COLUMNS = 200
SAMPLES = 5
MOST_UNPACKED = 4 * 1024**3  # bytes of a spreadsheet's parts


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file as a whole cannot be read: why, and what to do."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Head:
    """How a file begins."""

    header: tuple[str, ...]
    samples: tuple[tuple[str, ...], ...]
    delimiter: str
    offset: int  # of the first row behind the header


@dataclass(frozen=True, slots=True)
class Record:
    """One row as it stands in the file; `wrong`: a code, and there are no cells."""

    number: int
    cells: Sequence[str] = ()
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows, and where the next one begins."""

    records: list[Record]
    offset: int
    rows: int  # read so far, the header not counted
    end: bool


class _Lines:
    """The file's lines as text, with the byte behind the last one that was taken."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file = file
        self.offset = offset
        self.taken = 0  # lines of the row at hand
        self.bad = False
        file.seek(offset)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_CELL * MOST_COLUMNS)
        if not line or self.taken >= LONGEST_LINES:
            raise StopIteration
        self.offset += len(line)
        self.taken += 1
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.bad = True
            return line.decode("utf-8", "replace")


def read_head(path: Path) -> Head | Unreadable:
    """Read the header and the first rows of a CSV file."""
    with path.open("rb") as file:
        start = file.read(4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return Unreadable("not_utf8", "Save the file as “CSV UTF-8”.")
        offset = 3 if start[:3] == b"\xef\xbb\xbf" else 0
        file.seek(offset)
        first = file.readline(LONGEST_CELL * MOST_COLUMNS)
        said = first.strip().lower()
        delimiter = ""
        if said.startswith(b"sep=") and len(said) == 5:
            delimiter = first.strip()[4:].decode("ascii", "replace")
            offset += len(first)
            first = file.readline(LONGEST_CELL * MOST_COLUMNS)
        bare = b"".join(first.split(b'"')[::2]).decode("utf-8", "replace")
        delimiter = delimiter or max((",", ";", "\t"), key=bare.count)
        lines = _Lines(file, offset)
        header = next(_records(lines, delimiter, 0), None)
        if header is None or not any(cell.strip() for cell in header.cells):
            return Unreadable("no_header", "Name the columns in the first row.")
        if header.wrong == "not_utf8":
            return Unreadable("not_utf8", "Save the file as “CSV UTF-8”.")
        names = tuple(" ".join(cell.split())[:200] for cell in header.cells)
        if len(names) > MOST_COLUMNS:
            return Unreadable("too_wide", f"A file may have {MOST_COLUMNS} columns.")
        twice = [name for name in names if name and names.count(name) > 1]
        if twice:
            return Unreadable("same_name", f"Two columns are called “{twice[0]}”: rename one.")
        behind = lines.offset
        samples = [
            tuple(cell[:100] for cell in record.cells)
            for _, record in zip(range(SAMPLES), _records(lines, delimiter, 1), strict=False)
        ]
    return Head(names, tuple(samples), delimiter, behind)


def read_chunk(path: Path, *, delimiter: str, offset: int, rows: int, limit: int) -> Chunk:
    """Read up to `limit` rows from a byte on."""
    with path.open("rb") as file:
        lines = _Lines(file, offset)
        records: list[Record] = []
        for record in _records(lines, delimiter, rows + 1):
            rows += 1
            if record.wrong is not None or any(record.cells):
                records.append(record)
            if len(records) >= limit:
                return Chunk(records, lines.offset, rows, end=False)
    return Chunk(records, lines.offset, rows, end=True)


def _records(lines: _Lines, delimiter: str, number: int) -> Iterator[Record]:
    """Yield rows; the header has number 0 here, as a spreadsheet counts it is row 1."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        number += 1
        lines.taken, lines.bad = 0, False
        try:
            cells = next(reader)
        except StopIteration:
            if lines.taken == 0:
                return
            reader = csv.reader(lines, delimiter=delimiter)
            yield Record(number, wrong="too_many_lines")
            continue
        except csv.Error:
            reader = csv.reader(lines, delimiter=delimiter)
            yield Record(number, wrong="broken_row")
            continue
        if lines.taken >= LONGEST_LINES:
            reader = csv.reader(lines, delimiter=delimiter)
            yield Record(number, wrong="too_many_lines")
        elif lines.bad:
            yield Record(number, wrong="not_utf8")
        elif any(len(cell) > LONGEST_CELL or "\x00" in cell for cell in cells):
            yield Record(number, wrong="bad_cell")
        else:
            yield Record(number, [unguard(cell.strip()) for cell in cells])


class _DiskTexts:
    """The shared texts of a spreadsheet, read as far as they are needed and kept in a file."""

    def __init__(self, source: Iterator[str], file: BinaryIO) -> None:
        self._source = source
        self._file = file
        self._starts = array.array("Q", [0])

    def __getitem__(self, index: int) -> str:
        while index >= len(self._starts) - 1:
            data = next(self._source).encode("utf-8", "replace")
            self._file.seek(0, 2)
            self._file.write(data)
            self._starts.append(self._starts[-1] + len(data))
        self._file.seek(self._starts[index])
        return self._file.read(self._starts[index + 1] - self._starts[index]).decode()


def convert_xlsx(source: Path, target: Path, *, most_rows: int | None = None) -> Unreadable | None:
    """Write the first sheet of a spreadsheet as CSV."""
    from openpyxl.cell.text import Text
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.utils.exceptions import InvalidFileException
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    tag = f"{{{SHEET_MAIN_NS}}}si"

    def texts(part: Any) -> Iterator[str]:
        events = iterparse(part, events=("start", "end"))
        _, root = next(events)
        for event, node in events:
            if event == "end" and node.tag == tag:
                whole: Any = Text.from_tree(node)
                yield whole.content.replace("x005F_", "")
                root.clear()  # texts that were read are not kept in the tree

    class Reader(ExcelReader):
        """Leaves the shared texts on the disk."""

        def read_strings(self) -> None:
            named = self.package.find(SHARED_STRINGS)
            if named is not None:
                part = self.archive.open(named.PartName[1:])
                self.shared_strings = _DiskTexts(texts(part), scratch)  # pyright: ignore[reportAttributeAccessIssue]

    with tempfile.TemporaryFile(dir=target.parent) as scratch:
        try:
            with zipfile.ZipFile(source) as parts:
                if sum(part.file_size for part in parts.infolist()) > MOST_UNPACKED:
                    return Unreadable("too_large", "Save the sheet as CSV: it is too large.")
            with source.open("rb") as given:  # by its bytes: a path is judged by its ending
                reader = Reader(given, read_only=True, data_only=True, keep_links=False)
                reader.read()
                _write_sheet(reader.wb.worksheets[0], target, most_rows)
                reader.wb.close()
        except (
            *(zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, AttributeError),
            *(InvalidFileException, StopIteration, SyntaxError, OSError, NotImplementedError),
        ) as error:
            return Unreadable(
                "not_xlsx",
                f"The spreadsheet cannot be read ({type(error).__name__}): save it as CSV.",
            )
    return None


def _write_sheet(sheet: Any, target: Path, most_rows: int | None) -> None:
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        rows = sheet.iter_rows(values_only=True, max_row=most_rows, max_col=MOST_COLUMNS + 1)
        for row in rows:
            cells = [_cell(value) for value in row]
            while cells and not cells[-1]:
                cells.pop()
            writer.writerow(cells)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value)
