"""Posts from a CSV file, and a whole workspace into a ZIP: files of this machine, the local database.

On a terminal a line says that work is under way; how far it is, the import does not tell.
"""

import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path

from cyclopts import App

from cadenza.bootstrap.model import House
from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.reach import USUALLY, Reach, pick_workspace
from cadenza.cli.settings import Chosen, opened_house
from cadenza.cli.show import print_json, print_table, say
from cadenza.client.errors import ClientError
from cadenza.client.local import open_local
from cadenza.posts.export import export_workspace
from cadenza.posts.import_csv import Order, import_csv
from cadenza.posts.read_csv import Unreadable
from cadenza.queues.take_imports import QUEUES

export_app = App(name="export", help="Write a whole workspace into a ZIP, without its secrets.")


async def import_file(
    reach: Reach, file: Path, *, zone: str | None, all_or_nothing: bool, dry_run: bool
) -> int:
    """Import a CSV file and report on each row."""
    data = _read(file)
    async with _own(reach) as (house, workspace_id, by):
        order = Order(
            workspace_id=workspace_id,
            by=by,
            zone=zone,
            all_or_nothing=all_or_nothing,
            dry_run=dry_run,
        )
        with _working(f"importing {file}"):
            report = await import_csv(house.operations, data, order, queues=QUEUES)
    if isinstance(report, Unreadable):
        raise ClientError(f"{file} cannot be imported: {report}")
    if reach.json:
        print_json({**asdict(report), "made": report.made})
        return REFUSED if report.problems else OK
    print_table(
        ("row", "column", "what is wrong", "what to do"),
        [(p.row, p.column, p.wrong, p.todo) for p in report.problems],
        empty="Every row is fine.",
    )
    word = "would be made" if dry_run else "were made"
    say(f"{report.made} posts {word}; {len(report.done) - report.made} were there already")
    if report.taken_back:
        say("all or nothing: something was wrong, so nothing was imported")
    return REFUSED if report.problems else OK


@export_app.default
async def export(file: Path | None = None, /, *, reach: Reach = USUALLY) -> int:
    """Write a whole workspace into a ZIP: every table, and posts.csv that can be imported again.

    Credentials stay behind.

    Parameters
    ----------
    file
        Where to; without it the standard output.
    """
    return await export_file(reach, file)


async def export_file(reach: Reach, file: Path | None) -> int:
    """Write the ZIP; one that is there is not overwritten."""
    if file is None and sys.stdout.isatty():
        raise ClientError("name a file, or send the ZIP somewhere: cadenza export workspace.zip")
    size = 0
    async with _own(reach) as (house, workspace_id, _):
        try:
            out = sys.stdout.buffer if file is None else file.open("xb")
        except OSError as error:
            raise ClientError(f"{file} cannot be written: {error.strerror}") from error
        try:
            with _working("packing the workspace"):
                async for chunk in export_workspace(house.operations, workspace_id):
                    size += out.write(chunk)
        finally:
            if file is not None:
                out.close()
    if file is not None:
        say(f"{file}: {size:,} bytes")
    return OK


@contextmanager
def _working(words: str) -> Generator[None]:
    """Say on a terminal that it takes a while."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{words} …") if console.is_terminal else nullcontext():
        yield


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}") from error


@asynccontextmanager
async def _own(reach: Reach) -> AsyncGenerator[tuple[House, str, str]]:
    """Open the local house; name the workspace, and who acts."""
    if reach.server is not None:
        raise ClientError("this works on the local database: run it on the server's machine")
    async with (
        opened_house(Chosen(config=reach.config)) as house,
        open_local(house, person=reach.as_) as client,
    ):
        workspace_id = pick_workspace(await client.workspaces(), reach.workspace)
        me = await client.me()
        member = next(w for w in me["workspaces"] if w["workspace_id"] == workspace_id)
        yield house, workspace_id, f"member:{member['member_id']}"
