"""`cadenza db`: bring the database up to date, see where it stands, copy it, confirm a restore.

There is no way down: keep a backup from before an upgrade.
"""

import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

from cyclopts import App

from cadenza.bootstrap.guard import LOOK_EVERY, StartupCheck, read_witness, write_witness
from cadenza.bootstrap.overdue import Overdue, Rescheduled
from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.files import new_file
from cadenza.cli.settings import USUAL, ConfigOptions, Database, opened_database, sqlite_file
from cadenza.cli.show import echo, print_facts, print_json
from cadenza.client.errors import ClientError
from cadenza.core.clock import SystemClock
from cadenza.db.open import migrations, open_product
from cadenza.deliveries.installation import (
    LOCK,
    RESTORE,
    Confirmed,
    Hold,
    beat,
    confirm,
    count_maybe_sent,
    hold,
    join,
    read_signs,
)
from cadenza.providers.http.redact import redact
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

app = App(name="db", help="Upgrade, look at, copy and confirm the database.")

COUNTED = ("workspace", "account", "delivery")


@app.command
async def upgrade(*, chosen: ConfigOptions = USUAL) -> int:
    """Bring the database up to date; make it if there is none."""
    from cadenza.bootstrap.runtime import open_runtime

    settings = chosen.settings()
    async with open_runtime(settings) as runtime:
        done = {
            "database": redact(settings.database_address),
            "version": await _version(runtime.operations),
        }
    if chosen.json:
        print_json(done)
    else:
        echo(f"{done['database']} is up to date at version {done['version']}")
    return OK


@app.command
async def status(*, chosen: ConfigOptions = USUAL) -> int:
    """Say at which version the database is, what is in it, and whether it may send."""
    async with opened_database(chosen) as runtime:
        version = await _version(runtime.operations)
        signs = await runtime.operations.read(read_signs)
        overdue = await runtime.operations.read(lambda tx, _: count_maybe_sent(tx))
        counts = {name: await _count(runtime.operations, name) for name in COUNTED}
    held = signs.hold if signs else None
    facts = {
        "database": redact(runtime.settings.database_address),
        "version": f"{version} of {max(each.version for each in migrations())}",
        "last sign of life": signs.beat_at if signs else "never",
        "sending": "held" if held else "allowed",
        "held since": held.since if held else None,
        "reason": held.message if held else None,
        "overdue since the backup": overdue if held and held.kind == RESTORE else None,
        **{f"{name} rows": count for name, count in counts.items()},
    }
    if chosen.json:
        print_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        print_facts(facts)
        if held:
            echo(_advice(held))
    return REFUSED if held else OK


@app.command
async def confirm_(
    *, overdue: Overdue = Overdue.CHECK, by: str = "operator", chosen: ConfigOptions = USUAL
) -> int:
    """Let sending go on after a restore or a clock's jump, once you have looked.

    After a restore, posts that were due since the backup may be out already. They are marked as
    missed, so that nothing is sent twice: look at the networks, then reschedule what is not there.

    Parameters
    ----------
    overdue
        What becomes of posts that were due since the backup. check: they stay missed, for people to look at
        one by one. The others only if you know that none of them was sent: next_slot gives each the next
        free slot, now sends them one after the other, draft takes them back.
    by
        Who confirms; it stands in the audit log.
    """
    who = f"operator:{by}"
    async with opened_database(chosen) as runtime:
        witness = read_witness(runtime.settings.witness)
        answer = await runtime.operations.run(
            lambda tx, now: confirm(tx, now, by=who, witness=witness), locks=[LOCK]
        )
        if not isinstance(answer, Confirmed):
            raise ClientError("nothing is held: there is nothing to confirm")
        done = Rescheduled()
        if answer.missed:
            from cadenza.bootstrap.resume_sending import reschedule_overdue

            done = await reschedule_overdue(runtime.operations, overdue, by=who)
        signs = await runtime.operations.read(read_signs)
        if signs is not None and signs.hold is None:
            write_witness(
                runtime.settings.witness, signs.witness
            )  # this machine is known from here on
    if chosen.json:
        told = {"confirmed": answer.kind, "missed": answer.missed}
        print_json({**told, "moved": done.moved, "drafts": done.drafts})
    else:
        echo(f"confirmed ({answer.kind}): sending goes on within seconds")
        _tell_overdue(done)
    return OK


def _tell_overdue(done: Rescheduled) -> None:
    if done.moved:
        echo(f"{done.moved} deliveries were due since then: they have new times now")
    if done.drafts:
        echo(f"{done.drafts} deliveries were due since then: they are drafts now")
    if done.left:
        echo(f"{done.left} deliveries were due since then and may be out: they are missed now")


@app.command(name="join")
async def join_(
    *, current: bool = False, by: str = "operator", chosen: ConfigOptions = USUAL
) -> int:
    """Let this machine work on a database that others work on, or take it over.

    A worker or server on a new machine does this by itself when it starts while another machine is at work.
    Alone beside a database that it does not know, it holds all sending, as the database may be a restored backup.

    Parameters
    ----------
    current
        You know that this is the current database, and no restored backup: the others were stopped on purpose.
    by
        Who says so; it stands in the audit log.
    """
    async with opened_database(chosen) as runtime:
        if not current and not await _others_live(runtime):
            raise ClientError(
                "no other machine is at work on this database: start one that has worked on it, or, if you know "
                "that this is the current database and no restored backup, run `cadenza db join --current`"
            )
        signs = await runtime.operations.run(
            lambda tx, now: join(tx, now, by=f"operator:{by}"), locks=[LOCK]
        )
        if signs is None:
            raise ClientError("nobody has worked on this database yet: just start Cadenza")
        if signs.hold is not None:
            raise ClientError(f"sending is held ({signs.hold.message}): {_advice(signs.hold)}")
        write_witness(runtime.settings.witness, signs.witness)
    echo("this machine works on this database from now on: start it")
    return OK


async def _others_live(runtime: Database) -> bool:
    """Whether this machine knows the database, or another gives a sign of life on it in time."""
    newcomer, witness = StartupCheck(), read_witness(runtime.settings.witness)
    while not await newcomer.look(runtime.operations, witness):
        if newcomer.admitted:
            return True
        await SystemClock().sleep(LOOK_EVERY)
    return False


@app.command
async def restored(*, chosen: ConfigOptions = USUAL) -> int:
    """Say yourself that this database was restored: hold sending until `confirm`.

    Needed only where the whole data folder was put back, the witness file included.
    """
    async with opened_database(chosen) as runtime:
        await runtime.operations.run(
            lambda tx, now: _hold(tx, now, "an operator says that it was restored"), locks=[LOCK]
        )
    echo("sending is held: look at the networks, then run `cadenza db confirm`")
    return OK


@app.command
async def backup(file: Path, /, *, chosen: ConfigOptions = USUAL) -> int:
    """Copy a SQLite database while it is at work; the copy starts with sending held.

    Parameters
    ----------
    file
        Where the copy goes; it must not be there yet.
    """
    settings = chosen.settings()
    source = sqlite_file(settings)
    if source is None:
        raise ClientError("this database is a PostgreSQL server: back it up with pg_dump")
    _copy(source, file)
    async with open_product(f"sqlite:///{file}", clock=SystemClock()) as copy:
        await copy.run(_mark_copy)
    echo(f"{file} is a copy of {source}; the keys are not in it: keep {settings.keys} apart")
    return OK


def _hold(tx: Tx, now: datetime, message: str) -> None:
    beat(tx, now)  # a database that never ran has no row to hold yet
    hold(tx, now, kind=RESTORE, message=message)


def _mark_copy(tx: Tx, now: datetime) -> None:
    _hold(tx, now, f"it is a copy that was made at {now:%Y-%m-%d %H:%M:%S} UTC")


def _copy(source: Path, file: Path) -> None:
    """Copy page by page with SQLite's own means: writers go on, the copy is of one moment."""
    if not source.exists():
        raise ClientError(f"there is no database at {source}")
    new_file(file).close()  # refused, and told why, before anything is read
    file.chmod(0o600)
    with (
        contextlib.closing(sqlite3.connect(source)) as here,
        contextlib.closing(sqlite3.connect(file)) as there,
    ):
        here.backup(there)


async def _version(operations: Operations) -> int:
    return await operations.read(
        lambda tx, _: tx.value("SELECT max(version) FROM cadenza_migrations WHERE line = 'product'")
    )


async def _count(operations: Operations, table: str) -> int:
    return await operations.read(
        lambda tx, _: tx.value(f"SELECT count(*) FROM {table}")  # noqa: S608 - a constant
    )


def _advice(held: Hold) -> str:
    if held.kind == RESTORE:
        return "look at the networks for what left since the backup, then run `cadenza db confirm`"
    return "set the database server's clock right, then run `cadenza db confirm`"
