"""Reads a CSV file of posts: bytes to rows under known column names, with nothing guessed silently.

UTF-8 with or without a mark, comma, semicolon or tab (found in the header, or said by Excel's `sep=`),
quotes as RFC 4180 says. Headers are matched to our columns by name or by the caller's mapping; a header
that matches nothing is reported, not dropped unseen. Limits bound what one file may hold.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from cadenza.core.cells import unguard
from cadenza.core.suggest import did_you_mean

MOST_BYTES = 10 * 1024 * 1024
MOST_ROWS = 5_000
LONGEST = 50_000  # signs of one cell

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "message", "content", "caption", "post", "body", "copy"),
    "accounts": ("accounts", "account", "profiles", "profile", "channels", "channel"),
    "when": (
        "when",
        "schedule",
        "scheduled at",
        "publish at",
        "datetime",
        "date time",
        "posting time",
    ),
    "date": ("date", "day"),
    "time": ("time",),
    "zone": ("zone", "timezone", "time zone", "tz"),
    "title": ("title", "name"),
    "link": ("link", "url"),
    "hashtags": ("hashtags", "tags"),
    "first_comment": ("first comment", "comment"),
    "labels": ("labels", "label"),
    "media": ("media", "images", "image", "files", "file", "photo", "video"),
    "key": ("key", "id", "external id"),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a row, where, and what to do. Row 1 is the header, as a spreadsheet counts."""

    row: int
    column: str
    wrong: str
    todo: str


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One row under our column names; cells that are empty are left out."""

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file that could be read; rows that could not stand under `problems`."""

    rows: tuple[CsvRow, ...]
    columns: Mapping[str, str]  # ours -> the file's header
    unknown: tuple[str, ...]  # headers that mean nothing to us
    delimiter: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file as a whole cannot be read: nothing was imported."""

    wrong: str
    todo: str


def read_csv(data: bytes, *, mapping: Mapping[str, str] | None = None) -> Sheet | Unreadable:
    """Read the file; `mapping` says which header stands for which of our columns, or none (empty)."""
    if len(data) > MOST_BYTES:
        return Unreadable(
            f"the file has more than {MOST_BYTES // 1024**2} MB", "split it into smaller files"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Unreadable(f"line {line} is not UTF-8", "save the file as “CSV UTF-8”")
    delimiter, text = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        records = [record for _, record in zip(range(MOST_ROWS + 2), reader, strict=False)]
    except csv.Error as error:
        return Unreadable(
            f"line {reader.line_num} is broken: {error}", "check the quotation marks around it"
        )
    header = [name.strip() for name in records[0]] if records else []
    if not any(header):
        return Unreadable("the file has no header", "name the columns in the first row")
    if len(records) > MOST_ROWS + 1:
        return Unreadable(f"the file has more than {MOST_ROWS} rows", "split it into smaller files")
    columns = _columns(header, mapping or {})
    if isinstance(columns, Unreadable):
        return columns
    return _sheet(header, records[1:], columns, delimiter)


def _delimiter(text: str) -> tuple[str, str]:
    """Find what parts the columns of the header, outside of quotes."""
    first, _, rest = text.partition("\n")
    if first.strip().lower().startswith("sep=") and len(first.strip()) == 5:
        return first.strip()[4], rest
    bare = "".join(first.split('"')[::2])
    return max((",", ";", "\t"), key=bare.count), text


def _columns(header: list[str], mapping: Mapping[str, str]) -> dict[str, str] | Unreadable:
    for ours, theirs in mapping.items():
        if ours not in COLUMNS:
            hint = did_you_mean(ours, COLUMNS)
            return Unreadable(
                f"there is no column {ours!r} to map to.{hint}", f"map to {', '.join(COLUMNS)}"
            )
        if theirs and theirs not in header:
            return Unreadable(
                f"the file has no column {theirs!r}.{did_you_mean(theirs, header)}",
                "map to a name that stands in its first row",
            )
    columns = {ours: theirs for ours, theirs in mapping.items() if theirs}
    for ours, names in COLUMNS.items():
        found = [name for name in header if _plain(name) in names and name not in columns.values()]
        if ours not in columns and ours not in mapping and found:
            columns[ours] = min(found, key=lambda name, names=names: names.index(_plain(name)))
    twice = [name for name in columns.values() if header.count(name) > 1]
    if twice:
        return Unreadable(f"two columns are called {twice[0]!r}", "give each its own name")
    if "text" not in columns and "media" not in columns:
        return Unreadable(
            "no column holds the posts' text",
            "call it “text”, or say which one it is",
        )
    return columns


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


def _sheet(
    header: list[str], records: list[list[str]], columns: dict[str, str], delimiter: str
) -> Sheet:
    rows: list[CsvRow] = []
    problems: list[Problem] = []
    places = {ours: header.index(theirs) for ours, theirs in columns.items()}
    for number, record in enumerate(records, start=2):
        if not any(cell.strip() for cell in record):
            continue
        wrong = _unfit(number, header, record)
        if wrong is not None:
            problems.append(wrong)
            continue
        cells = {
            ours: unguard(record[place].strip()).replace("\r\n", "\n")
            for ours, place in places.items()
            if place < len(record)
        }
        rows.append(CsvRow(number, {name: cell for name, cell in cells.items() if cell}))
    unknown = tuple(name for name in header if name and name not in columns.values())
    return Sheet(tuple(rows), columns, unknown, delimiter, tuple(problems))


def _unfit(number: int, header: list[str], record: list[str]) -> Problem | None:
    if len(record) > len(header):
        return Problem(
            number,
            "",
            f"it has {len(record)} columns, the header has {len(header)}",
            "put quotation marks around cells that hold the parting sign",
        )
    for name, cell in zip(header, record, strict=False):
        if "\x00" in cell:
            return Problem(number, name, "it holds a NUL sign", "remove it")
        if len(cell) > LONGEST:
            return Problem(number, name, f"it has more than {LONGEST} signs", "shorten it")
    return None
