"""`cadenza promote`: from the SQLite file to PostgreSQL, verified, when one machine is no longer enough."""

import sys
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.bootstrap.promote import NotPromoted, promote
from cadenza.cli.codes import OK
from cadenza.cli.settings import USUAL, ConfigOptions, sqlite_file
from cadenza.cli.show import echo, print_json, print_table
from cadenza.core.clock import SystemClock
from cadenza.providers.http.redact import redact

app = App(name="promote", help="Move the whole installation from SQLite to PostgreSQL.")


@app.default
async def run(*, to: Annotated[str, Parameter(name="--to")], chosen: ConfigOptions = USUAL) -> int:
    """Copy everything to an empty PostgreSQL database, compare both, and retire the SQLite file.

    Stop every worker and server first. Nothing is changed unless all of it arrived.

    Parameters
    ----------
    to
        postgresql://USER@HOST/DATABASE, an empty database.
    """
    file = sqlite_file(chosen.settings())
    if file is None:
        raise NotPromoted("the settings name a server already: only a SQLite file is promoted")
    from rich.console import Console
    from rich.progress import Progress, TaskID

    console = Console(stderr=True)
    with Progress(console=console, disable=not sys.stderr.isatty(), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = bar.add_task(table, total=total)
            bar.update(tasks[table], completed=done)

        checked = await promote(file, to, clock=SystemClock(), tell=tell)
    if chosen.json:
        tables = [{"table": c.table, "rows": c.rows, "hash": c.hash} for c in checked]
        print_json({"to": redact(to), "tables": tables})
        return OK
    print_table(
        ("table", "rows", "the same on both sides"),
        [(each.table, each.rows, each.hash[:16]) for each in checked if each.rows],
        empty="It was empty.",
    )
    echo(f"everything is in {redact(to)} now.")
    echo("Before you start anything, set CADENZA_DATABASE to the address that you gave with --to.")
    echo(f"{file} is kept, on hold: it sends nothing. Keys and media stay where they are;")
    echo("several machines need both: see docs/guides/several-machines.md")
    return OK
