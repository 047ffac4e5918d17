"""`cadenza db`: bring the database up to date, see where it stands, copy it, confirm a restore.

There is no way down: keep a backup from before an upgrade.
"""

import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

from cyclopts import App

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.files import new_file
from cadenza.cli.settings import USUAL, Chosen, opened_database, sqlite_file
from cadenza.cli.show import print_facts, print_json, say
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
    hold,
    read_signs,
)
from cadenza.providers.http.redact import redact
from cadenza.sql.operate import Operations
from cadenza.sql.tx import Tx

app = App(name="db", help="Upgrade, look at, copy and confirm the database.")

COUNTED = ("workspace", "account", "delivery")


@app.command
async def upgrade(*, chosen: Chosen = USUAL) -> int:
    """Bring the database up to date; make it if there is none."""
    from cadenza.bootstrap.house import open_house

    settings = chosen.settings()
    async with open_house(settings) as house:
        done = {
            "database": redact(settings.database_address),
            "version": await _version(house.operations),
        }
    if chosen.json:
        print_json(done)
    else:
        say(f"{done['database']} is up to date at version {done['version']}")
    return OK


@app.command
async def status(*, chosen: Chosen = USUAL) -> int:
    """Say at which version the database is, what is in it, and whether it may send."""
    async with opened_database(chosen) as house:
        version = await _version(house.operations)
        signs = await house.operations.read(read_signs)
        counts = {name: await _count(house.operations, name) for name in COUNTED}
    held = signs.hold if signs else None
    facts = {
        "database": redact(house.settings.database_address),
        "version": f"{version} of {max(each.version for each in migrations())}",
        "last sign of life": signs.beat_at if signs else "never",
        "sending": "held" if held else "allowed",
        "held since": held.since if held else None,
        "reason": held.says if held else None,
        **{f"{name} rows": count for name, count in counts.items()},
    }
    if chosen.json:
        print_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        print_facts(facts)
        if held:
            say(_advice(held))
    return REFUSED if held else OK


@app.command
async def confirm_(*, by: str = "operator", chosen: Chosen = USUAL) -> int:
    """Let sending go on after a restore or a clock's jump, once you have looked.

    After a restore, posts that were due since the backup may be out already. They are marked as
    missed, so that nothing is sent twice: look at the networks, then reschedule what is not there.

    Parameters
    ----------
    by
        Who confirms; it stands in the audit log.
    """
    from cadenza.bootstrap.guard import read_witness

    async with opened_database(chosen) as house:
        witness = read_witness(house.settings.witness)
        answer = await house.operations.run(
            lambda tx, now: confirm(tx, now, by=f"operator:{by}", witness=witness), locks=[LOCK]
        )
    if not isinstance(answer, Confirmed):
        raise ClientError("nothing is held: there is nothing to confirm")
    if chosen.json:
        print_json({"confirmed": answer.kind, "missed": answer.missed})
    else:
        say(f"confirmed ({answer.kind}): sending goes on within seconds")
        if answer.missed:
            say(
                f"{answer.missed} deliveries were due since then and may be out: they are missed now"
            )
    return OK


@app.command
async def restored(*, chosen: Chosen = USUAL) -> int:
    """Say yourself that this database was restored: hold sending until `confirm`.

    Needed only where the whole data folder was put back, the witness file included.
    """
    async with opened_database(chosen) as house:
        await house.operations.run(
            lambda tx, now: _hold(tx, now, "an operator says that it was restored"), locks=[LOCK]
        )
    say("sending is held: look at the networks, then run `cadenza db confirm`")
    return OK


@app.command
async def backup(file: Path, /, *, chosen: Chosen = USUAL) -> int:
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
    say(f"{file} is a copy of {source}; the keys are not in it: keep {settings.keys} apart")
    return OK


def _hold(tx: Tx, now: datetime, says: str) -> None:
    beat(tx, now)  # a database that never ran has no row to hold yet
    hold(tx, now, kind=RESTORE, says=says)


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
