"""Posts from a CSV file, and a whole workspace into a ZIP; on a server the files travel."""

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.files import save, sending
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, opened_workspace
from cadenza.cli.show import echo, print_json, print_table, some

if TYPE_CHECKING:
    from cadenza.client import types

SHOWN = 10  # rows that are named beside one note
export_app = App(name="export", help="Write a whole workspace into a ZIP, without its secrets.")


async def import_file(
    options: WorkspaceOptions, file: Path, *, zone: str | None, all_or_nothing: bool, dry_run: bool
) -> int:
    """Import a CSV file and report on each row."""
    async with opened_workspace(options) as home:
        with sending(f"importing {file}") as told:
            report = await home.imports.import_posts(
                file,
                zone=zone,
                all_or_nothing="true" if all_or_nothing else "false",
                dry_run=dry_run,
                told=told,
            )
    if options.json:
        print_json(report)
    else:
        _print_outcome(report)
    return REFUSED if report["problems"] else OK


def _print_outcome(report: "types.Imported") -> None:
    print_table(
        ("row", "column", "what is wrong", "what to do"),
        [(each["row"], each["column"], each["wrong"], each["todo"]) for each in report["problems"]],
        empty="Every row is fine.",
    )
    for name in report["unknown"]:
        echo(f"the column {name!r} means nothing here: it was not read")
    for note, rows in _notes(report).items():
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        which = ", ".join(map(str, rows[:SHOWN])) + more
        echo(f"{'row' if len(rows) == 1 else 'rows'} {which}: {note}")
    word = "to be made" if report["dry_run"] else "made"
    echo(f"{some(report['made'], 'post')} {word}; {report['again']} there already")
    if report["left"]:
        echo(
            f"{some(report['left'], 'row')} behind these were read and not tried: a dry run tries 500"
        )
    if report["taken_back"]:
        echo("all or nothing: something was wrong, so nothing was imported")


def _notes(report: "types.Imported") -> dict[str, list[int]]:
    """Gather what a person should know, each with its rows."""
    found: dict[str, list[int]] = {}
    for each in report["done"]:
        for note in each["notes"]:
            found.setdefault(note, []).append(each["row"])
    return found


@export_app.default
async def export(file: Path | None = None, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Write a whole workspace into a ZIP: every table, and posts.csv that can be imported again.

    Credentials stay behind. On a server it needs a key with the role admin and the scope export:read.

    Parameters
    ----------
    file
        Where to; without it the standard output.
    """
    async with opened_workspace(options) as home:
        await save(home.exports.export(), file, "packing the workspace", json=options.json)
    return OK
