"""`cadenza jobs import`: bring in what mongodb-cron, Agenda or pg-boss have left to do.

The source is only read. Each record is told: what it became, what it means otherwise here, or why
it was not taken. With `--dry-run` nothing is written at all.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.open_jobs import HERE, HERE_ONLY, ServerOption, StoreOption, opened, refuse_server
from cadenza.cli.show import as_data, echo, print_json, print_table
from cadenza.engine.adopt import Found, ImportedRecord, agenda, import_records, mongodb_cron, pgboss
from cadenza.engine.adopt.fetch import from_mongodb, from_pgboss
from cadenza.engine.classic import FieldPaths
from cadenza.engine.client import Engine

_FIELDS = {
    "sleepUntil": "sleep_until",
    "interval": "interval",
    "repeatUntil": "repeat_until",
    "autoRemove": "auto_remove",
}
Kind = Literal["mongodb-cron", "agenda", "pg-boss"]


def add_import(app: App) -> None:
    """Hang the command on the group."""
    app.command(import_, name="import")


async def import_(
    kind: Kind,
    source: str,
    /,
    *,
    collection: str | None = None,
    schema: str = "pgboss",
    task: str | None = None,
    queue: str = "default",
    source_zone: str = "UTC",
    where: str | None = None,
    path: Annotated[list[str] | None, Parameter(negative="")] = None,
    dry_run: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> int:
    """Bring in jobs of another scheduler: `cadenza jobs import agenda mongodb://host/db --dry-run`.

    Parameters
    ----------
    kind
        Whose jobs they are: mongodb-cron, agenda or pg-boss.
    source
        The address of the database that they are in.
    collection
        Of MongoDB: the collection; without it `jobs` for mongodb-cron, `agendaJobs` for Agenda.
    schema
        Of pg-boss: the schema of its tables.
    task
        Of mongodb-cron: the task that its documents become jobs of.
    queue
        Of MongoDB: the queue that they go to. pg-boss's queues keep their names.
    source_zone
        Where intervals are read that name no zone of their own.
    where
        Of MongoDB: only documents that this filter (JSON) finds, such as {"kind": "mail"}.
    path
        Of mongodb-cron: where a field lies, if not where it usually does: sleepUntil=cron.sleepUntil;
        so also interval, repeatUntil and autoRemove.
    dry_run
        Only say what would be done.
    """
    refuse_server(remote, "takes no new jobs")
    # A dry run needs no store, and must not make one.
    goal = replace(place, store="memory://") if dry_run else place
    async with opened(goal, create=True) as engine:
        wanted = _Wanted(
            collection, schema=schema, task=task, queue=queue, zone=source_zone,
            where=_filter(where), paths=_paths(path or []),
        )  # fmt: skip
        imported = await import_records(
            engine, await _read(engine, kind, source, wanted), dry_run=dry_run
        )
    _print_outcome(imported, place)
    return REFUSED if any(one.outcome == "refused" for one in imported) else OK


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be read, and as what."""

    collection: str | None
    _: KW_ONLY
    schema: str
    task: str | None
    queue: str
    zone: str
    where: dict[str, Any]
    paths: FieldPaths


async def _read(engine: Engine, kind: Kind, source: str, wanted: _Wanted) -> list[Found]:
    queue, zone = wanted.queue, wanted.zone
    match kind:
        case "pg-boss":
            jobs, schedules = await from_pgboss(source, wanted.schema)
            read = [pgboss.read_job(row) for row in jobs]
            return [*read, *(pgboss.read_schedule(row) for row in schedules)]
        case "agenda":
            papers = from_mongodb(source, wanted.collection or "agendaJobs", wanted.where)
            return [agenda.read(paper, queue=queue, zone=zone) async for paper in papers]
        case "mongodb-cron":
            task = wanted.task
            if task is None:
                raise UsageError("documents of mongodb-cron name no task: say which with --task")
            now = await engine.store.now()
            papers = from_mongodb(source, wanted.collection or "jobs", wanted.where)
            return [
                mongodb_cron.read(
                    paper, task=task, zone=zone, queue=queue, paths=wanted.paths, now=now
                )
                async for paper in papers
            ]


def _filter(text: str | None) -> dict[str, Any]:
    try:
        return {} if text is None else msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UsageError(
            f'--where takes a filter in JSON, such as {{"kind": "mail"}}: {error}'
        ) from error


def _paths(said: Sequence[str]) -> FieldPaths:
    found: dict[str, str] = {}
    for each in said:
        name, equals, path = each.partition("=")
        if not equals or name not in _FIELDS:
            known = ", ".join(_FIELDS)
            raise UsageError(f"--path {each}: say FIELD=PATH, where FIELD is one of {known}")
        found[_FIELDS[name]] = path
    return FieldPaths(**found)


def _print_outcome(imported: Sequence[ImportedRecord], place: StoreOption) -> None:
    if place.json:
        print_json([as_data(one) for one in imported])
        return
    print_table(
        ("from", "outcome", "what"),
        [(one.source, one.outcome, one.what) for one in imported],
        empty="nothing was found there",
    )
    differences: dict[str, int] = {}
    for one in imported:
        for note in one.notes:
            differences[note] = differences.get(note, 0) + 1
    for note, count in sorted(differences.items()):
        echo(f"{count} x {note}")
