"""What people and programs read: tables, facts, and JSON.

Everything from a store is shown as plain text: it may hold markup or control characters that
someone else wrote, and a terminal would obey them. JSON is the same data unabridged, times in UTC.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cadenza.core.zones import get_zone, local
from cadenza.engine.job import Job

_STYLES = {
    "waiting": "cyan",
    "running": "yellow",
    "done": "green",
    "failed": "bold red",
    "canceled": "dim",
}
_JSON_TEXTS = frozenset({"payload", "options", "progress", "output", "recurrence"})


def echo(text: str) -> None:
    """Print one line for people."""
    print(plain(text))


def echo_ids(things: Iterable[Mapping[str, Any]]) -> None:
    """Print ids alone, one a line, for other commands."""
    for each in things:
        echo(str(each["id"]))


def some(count: int, thing: str) -> str:
    """Say how many: `1 post`, `3 posts`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def print_json(value: object) -> None:
    """Print a value for programs."""
    text = msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2)
    sys.stdout.write(text.decode() + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print rows under headings; `empty` instead, if there are none."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    count = 0
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
        count += 1
    if count:
        _console().print(table)
    else:
        echo(empty)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, leaving out what is not set."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in (None, "", ()):
            table.add_row(Text(name), _cell(value))
    _console().print(table)


def when(instant: datetime | None, zone: str | None) -> str:
    """Word an instant in UTC, and in a zone below it."""
    if instant is None:
        return "–"
    words = f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
    if zone is None:
        return words
    return f"{words}\n{local(instant, get_zone(zone)):%Y-%m-%d %H:%M:%S %Z}"


def as_data(thing: object) -> Any:
    """Turn a value of the engine into plain data, its JSON texts read."""
    data = msgspec.to_builtins(thing)
    if isinstance(data, dict):
        for name in _JSON_TEXTS & data.keys():
            data[name] = _read(data[name])
        if isinstance(thing, Job):
            data["errors"] = [_read(text) for text in thing.errors]
    return data


def last_error(job: Job) -> str:
    """Word the newest error of a job in one line."""
    if not job.errors:
        return ""
    note = _read(job.errors[-1])
    if not isinstance(note, dict):
        return str(note)
    return f"{note.get('kind', 'Error')}: {note.get('message', '')}".splitlines()[0]


def plain(text: str) -> str:
    """Make text harmless to a terminal: what does not print becomes a mark."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _cell(value: object) -> Text:
    if value is None:
        return Text("–")
    text = plain(str(value))
    return Text(text, style=_STYLES.get(text, ""))


def _read(text: object) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _console() -> Console:
    """Write as wide as the terminal; into a pipe, wide enough never to fold a row."""
    return Console() if sys.stdout.isatty() else Console(width=240)
