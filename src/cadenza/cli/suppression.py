"""`cadenza suppression`: whom the workspace must not write to."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, opened_workspace, short
from cadenza.cli.show import echo, print_json, print_table

app = App(name="suppression", help="List, add and remove whom not to write to; import and export.")

Yes = Annotated[bool, Parameter(negative="", show_default=False)]
CHUNK = 1_000  # lines that one request takes


@app.command(name="list")
async def list_(
    starts: str = "",
    /,
    *,
    kind: str | None = None,
    channel: str | None = None,
    reason: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """List whom not to write to, newest first.

    Parameters
    ----------
    starts
        How the address, domain or handle begins.
    kind
        address, domain or handle.
    channel
        Only those of one channel, or `all` for those of all channels.
    reason
        unsubscribe, complaint, hard_bounce, manual or erasure.
    """
    said = {"starts": starts, "kind": kind, "channel": channel, "reason": reason}
    requested: Any = {name: value for name, value in said.items() if value}
    async with opened_workspace(options) as home:
        found: list[Any] = [each async for each in home.suppression.list_suppressions(**requested)]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("kind", "value", "channel", "reason", "since", "note"),
        [
            (
                *(each["kind"], each["value"], each["channel"], each["reason"]),
                *(each["created_at"], short(each["note"], 60)),
            )
            for each in found
        ],
        empty="Nobody is suppressed: `cadenza suppression add address ben@example.org` adds one.",
    )
    return OK


@app.command
async def add(
    kind: str,
    value: str,
    /,
    *,
    channel: str = "all",
    reason: str = "manual",
    note: str = "",
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Write to somebody no more, from now on.

    Parameters
    ----------
    kind
        address, domain or handle.
    value
        Such as ben@example.org, example.org or @ben.
    channel
        One channel such as telegram; without it, all.
    reason
        unsubscribe, complaint, hard_bounce, manual or erasure.
    note
        What else is known.
    """
    body: Any = {"kind": kind, "reason": reason}
    async with opened_workspace(options) as home:
        made: Any = await home.suppression.add_suppression(
            value=value, channel=channel, note=note, **body
        )
    if options.json:
        print_json(made)
    else:
        echo(f"{made['value']} gets no more messages")
    return OK


@app.command
async def remove(
    kind: str,
    value: str,
    /,
    *,
    why: str,
    channel: str = "all",
    reason: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Let somebody be written to again; the audit log keeps who did it and why.

    Parameters
    ----------
    kind
        address, domain or handle.
    value
        As it is listed.
    why
        Why they may be written to again.
    channel
        As it is listed.
    reason
        Only the row with this reason; without it, all.
    """
    body: Any = {"kind": kind, "why": why}
    if reason:
        body["reason"] = reason
    async with opened_workspace(options) as home:
        gone: Any = await home.suppression.remove_suppression(value=value, channel=channel, **body)
    if options.json:
        print_json(gone)
    else:
        echo(f"{value} can get messages again")
    return OK


@app.command(name="import")
async def import_(
    file: Path, /, *, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Add a CSV file, 1,000 lines at a time; what is there already stays.

    Parameters
    ----------
    file
        Columns value (or email), and kind, channel, reason, note; or one mail address a line.
    dry_run
        Report, and change nothing.
    """
    heading, rows = _read(file)
    skipped = 0 if heading else 1
    heading = heading or ["value"]
    done: dict[str, Any] = {"added": 0, "there_already": 0, "refused": []}
    async with opened_workspace(options) as home:
        for first in range(0, len(rows), CHUNK):
            text = _text([heading, *rows[first : first + CHUNK]])
            answer: Any = await home.suppression.import_suppression(csv=text, dry_run=dry_run)
            done["added"] += answer["added"]
            done["there_already"] += answer["there_already"]
            done["refused"] += [
                {**each, "line": each["line"] + first - skipped} for each in answer["refused"]
            ]
    if options.json:
        print_json(done)
    else:
        echo(f"{done['added']} added, {done['there_already']} were there already")
        for each in done["refused"]:
            echo(f"line {each['line']}: {each['message']}")
    return REFUSED if done["refused"] else OK


@app.command
async def export(file: Path, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Write a CSV file that can be imported again.

    Parameters
    ----------
    file
        Where to write it.
    """
    count, cursor = 0, None
    async with opened_workspace(options) as home:
        with file.open("w", encoding="utf-8", newline="") as out:
            while True:
                said: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
                part: Any = await home.suppression.export_suppression(**said)
                out.write(part["csv"])
                count, cursor = count + part["rows"], part["next"]
                if cursor is None:
                    break
    if options.json:
        print_json({"rows": count})
    else:
        echo(f"{count} rows written to {file}")
    return OK


def _read(file: Path) -> tuple[list[str], list[list[str]]]:
    """Return the heading, if there is one, and the lines."""
    rows = list(csv.reader(io.StringIO(file.read_text("utf-8-sig"))))
    names = {cell.strip().casefold() for cell in rows[0]} if rows else set[str]()
    return (rows[0], rows[1:]) if names & {"value", "email"} else ([], rows)


def _text(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
