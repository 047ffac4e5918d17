"""Suppressions as CSV: read with what is wrong in which line, and written so that it can be read again.

A file without a heading is a list of mail addresses, one a line, as other programs export them.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cadenza.contacts.addresses import EMAIL, read_address
from cadenza.contacts.model import Address, Invalid
from cadenza.contacts.suppress import (
    ALL,
    NewSuppression,
    Suppression,
    SuppressionKind,
    SuppressionReason,
    read_suppression,
)
from cadenza.core.cells import guard, unguard

COLUMNS = ("kind", "value", "channel", "reason", "note", "created_at")
LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that was left out, and why."""

    line: int
    column: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SuppressionFile:
    """What a file holds."""

    rows: tuple[NewSuppression, ...]
    refused: tuple[RefusedLine, ...]


def read_file(text: str) -> SuppressionFile | Invalid:
    """Read a CSV text; columns are `value` (or `email`), and where there are, kind, channel, reason and note."""
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    try:
        lines = [(rows.line_num, cells) for cells in rows if any(cells)]
    except csv.Error as error:
        return Invalid("csv", "not_csv", str(error))
    if not lines:
        return SuppressionFile((), ())
    heading = [cell.strip().casefold() for cell in lines[0][1]]
    if "value" in heading or "email" in heading:
        lines = lines[1:]
    elif isinstance(read_address(EMAIL, lines[0][1][0]), Address):
        heading = ["value"]
    else:
        return Invalid("csv", "no_value", "the first line names the columns: value is needed")
    found = [(number, _read_line(dict(zip(heading, cells)))) for number, cells in lines]  # noqa: B905 - lines may be short
    return SuppressionFile(
        tuple(each for _, each in found if isinstance(each, NewSuppression)),
        tuple(
            RefusedLine(number, each.column, each.code, each.message)
            for number, each in found
            if isinstance(each, Invalid)
        ),
    )


def _read_line(cells: dict[str, str]) -> NewSuppression | Invalid:
    said = {name: unguard(cell.strip()) for name, cell in cells.items()}
    value = said.get("value") or said.get("email", "")
    is_mail = isinstance(read_address(EMAIL, value), Address)
    kind = said.get("kind", "").casefold() or ("address" if is_mail else "")
    reason = said.get("reason", "").casefold() or SuppressionReason.MANUAL.value
    if kind not in set(SuppressionKind):
        return Invalid("kind", "bad_kind", "address, domain or handle")
    if reason not in set(SuppressionReason):
        return Invalid("reason", "bad_reason", f"one of {', '.join(SuppressionReason)}")
    channel = said.get("channel", "").casefold() or ALL
    note = "".join(each if each.isprintable() else " " for each in said.get("note", ""))
    return read_suppression(
        SuppressionKind(kind),
        value,
        channel=channel,
        reason=SuppressionReason(reason),
        note=note[:LONGEST_NOTE],
    )


def write_file(rows: Iterable[Suppression], *, heading: bool = True) -> str:
    """Write rows as CSV; cells that a spreadsheet would run are guarded."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    if heading:
        table.writerow(COLUMNS)
    table.writerows(_cells(rows))
    return text.getvalue()


def _cells(rows: Iterable[Suppression]) -> Iterator[list[str]]:
    for each in rows:
        cells = (each.kind, each.value, each.channel, each.reason, each.note)
        yield [*(guard(str(cell)) for cell in cells), each.created_at.isoformat()]
