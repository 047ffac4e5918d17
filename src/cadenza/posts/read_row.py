"""From one row of a file to what it wants: pure, every fault of the row at once, each with what to do.

`when` is empty or `draft` (only the post), `queue`, or a time: `2026-05-04 09:00` in the row's zone (or
the import's), or an instant with an offset. An import never publishes at once. Which accounts and files
the words mean is looked up later, in the transaction.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import msgspec

from cadenza.core.zones import UnknownZoneError, get_zone
from cadenza.posts.read_csv import CsvRow, Problem
from cadenza.posts.schedule_at import When

_PARTED = re.compile(r"[;,|\n]")
_GERMAN = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)")
_SLASHED = re.compile(r"\d{1,4}/\d{1,2}/\d{1,4}.*")
_ADDRESS = re.compile(r"https?://[^\s]{1,2000}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRequest:
    """A row that makes sense by itself."""

    row: int
    key: str  # names the row over all imports
    hash: str  # of all that it says
    text: str = ""
    title: str = ""
    link: str | None = None
    hashtags: tuple[str, ...] = ()
    first_comment: str | None = None
    labels: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()  # as written
    media: tuple[str, ...] = ()  # as written
    queue: bool = False
    when: When | None = None


def read_row(row: CsvRow, *, zone: str) -> RowRequest | tuple[Problem, ...]:
    """Return what the row wants, or all that is wrong with it; `zone` is for times without their own."""
    cells = row.cells
    problems: list[Problem] = []
    if "text" not in cells and "media" not in cells:
        problems.append(Problem(row.number, "text", "it is empty", "write a text, or name media"))
    link = cells.get("link")
    if link is not None and not _ADDRESS.fullmatch(link):
        problems.append(
            Problem(row.number, "link", f"{link[:60]!r} is no address", "write it as https://…")
        )
    queue, when, wrong = _when(row, zone)
    if wrong is not None:
        problems.append(wrong)
    accounts = parted(cells.get("accounts", ""))
    if (queue or when) and not accounts:
        problems.append(
            Problem(
                row.number,
                "accounts",
                "it has a time but says nowhere to go",
                "name one or more accounts, or leave the time empty for a draft",
            )
        )
    if problems:
        return tuple(problems)
    said = sha256(msgspec.json.encode(sorted(cells.items()))).hexdigest()
    key = cells.get("key")
    return RowRequest(
        row=row.number,
        key=f"key:{key}" if key else f"row:{said}",
        hash=said,
        text=cells.get("text", ""),
        title=cells.get("title", ""),
        link=link,
        hashtags=tuple(_hashtags(cells.get("hashtags", ""))),
        first_comment=cells.get("first_comment"),
        labels=parted(cells.get("labels", "")),
        accounts=accounts,
        media=parted(cells.get("media", "")),
        queue=queue,
        when=when,
    )


def parted(cell: str) -> tuple[str, ...]:
    """Return the words of a cell that holds several."""
    return tuple(dict.fromkeys(word.strip() for word in _PARTED.split(cell) if word.strip()))


def _hashtags(cell: str) -> list[str]:
    words = re.split(r"[\s;,|]+", cell)
    return list(dict.fromkeys(word.lstrip("#") for word in words if word.lstrip("#")))


def _when(row: CsvRow, zone: str) -> tuple[bool, When | None, Problem | None]:
    column = "when" if "when" in row.cells else "date"
    said = row.cells.get("when", "")
    if not said and "date" in row.cells:
        said = f"{row.cells['date']} {row.cells.get('time', '')}".strip()
    elif not said and "time" in row.cells:
        return False, None, Problem(row.number, "date", "it has a time but no date", "give a date")
    word = said.casefold()
    if word in {"", "draft"}:
        return False, None, None
    if word == "queue":
        return True, None, None
    if word == "now":
        todo = "give a time, or “queue”: an import never publishes at once"
        return False, None, Problem(row.number, column, "it says “now”", todo)
    found = _time(said)
    if found is None:
        todo = "write it as 2026-05-04 09:00, or “queue”, or leave it empty for a draft"
        wrong = f"{said[:40]!r} is no time"
        if _SLASHED.fullmatch(said):
            wrong = f"{said[:40]!r} can be read in two ways: day and month first"
        return False, None, Problem(row.number, column, wrong, todo)
    named = row.cells.get("zone", zone)
    try:
        get_zone(named)
    except UnknownZoneError as error:
        todo = "write it like Europe/Berlin, or leave it empty for the workspace's"
        return False, None, Problem(row.number, "zone", str(error), todo)
    return False, When(found, named if found.tzinfo is None else None), None


def _time(said: str) -> datetime | None:
    german = _GERMAN.fullmatch(said)
    if german:
        said = f"{german[3]}-{german[2]:0>2}-{german[1]:0>2}{german[4]}"
    said = re.sub(r"[T ](\d):", r" 0\1:", said)
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return None
    return found if re.search(r"\d:\d\d", said) else None  # a date alone says no time
