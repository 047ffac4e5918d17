"""Contacts at scale: an import beside a plain bulk load, and lists at 10,000 and 1,000,000 contacts.

    python -m bench.contacts [sqlite|postgres] [rows] [--kill]

Import: a CSV of people is imported by a worker process, and the same CSV is loaded by COPY (executemany on SQLite)
into the same tables with their indexes; the ratio of rows per second must be at least 0.2, the worker's memory at
most 300 MB. With `--kill` the worker is killed with -9 in the middle and another one goes on. Lists: the first page of
each filter at `rows` within twice the time at 10,000.
"""

import asyncio
import csv
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import Settings
from cadenza.contacts import fields, find, imports
from cadenza.contacts.columns import Defaults
from cadenza.contacts.filters import Condition
from cadenza.contacts.imports import Import, Options
from cadenza.contacts.read_table import Head, read_head
from cadenza.people.workspaces import NewWorkspace, create_workspace
from tests.servers.postgres import PrivatePostgres

HOME = "home"
FEW, MANY = 10_000, 1_000_000
BAR, MEMORY, LISTS = 0.2, 300, 2.0
TABLES = ("contact", "contact_address", "contact_tag", "contact_value")
FIRST = ("Ada", "Ben", "Cy", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "June")


def write_csv(path: Path, rows: int) -> None:
    """Write people as a CRM exports them."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["Email", "First name", "Last name", "Company", "Country", "Tags", "Age"])
        for n in range(rows):
            out.writerow(
                [
                    f"person{n}@company{n % 5000}.example",
                    FIRST[n % 10],
                    f"Last{n * 7919 % 99991}",
                    f"Company {n % 5000}",
                    ("DE", "FR", "US", "GB")[n % 4],
                    "rare" if n % (rows // 20) == 0 else f"tag{n % 7}",
                    n % 90,
                ]
            )


async def prepare(runtime: Runtime, path: Path) -> Import:
    """Make a workspace with a field, and an import that is started."""
    head = read_head(path)
    assert isinstance(head, Head)
    id_ = runtime.ids.new()
    await runtime.library.storage.write(f"imports/{id_}.csv", path, mime="text/csv", sha256="")

    def begin(tx: Any, now: datetime) -> Import:
        new = NewWorkspace(id=HOME, name=HOME, zone="UTC")
        create_workspace(tx, now, new=new, by="system")
        fields.save_field(
            tx, now, workspace_id=HOME, key="age", label="Age", kind="number", by="system"
        )
        made = imports.add_import(
            tx,
            now,
            head,
            workspace_id=HOME,
            id_=id_,
            kind="contacts",
            name="people.csv",
            format_="csv",
            size=path.stat().st_size,
            by="system",
        )
        started = imports.start_import(
            tx,
            now,
            workspace_id=HOME,
            import_id=id_,
            mapping=made.suggested,
            options=Options(defaults=Defaults()),
            by="system",
        )
        assert isinstance(started, Import), started
        return started

    return await runtime.operations.run(begin)


def work(settings: Settings) -> "subprocess.Popen[bytes]":
    """Start a worker process of our own."""
    environment = {
        **os.environ,
        "CADENZA_DATA": str(settings.data),
        "CADENZA_DATABASE": settings.database_address,
    }
    command = [sys.executable, "-m", "bench.contacts", "worker"]
    return subprocess.Popen(command, env=environment)


async def be_worker() -> None:
    """Run product jobs until killed."""
    settings = Settings(
        data=Path(os.environ["CADENZA_DATA"]), database=os.environ["CADENZA_DATABASE"]
    )
    async with open_runtime(settings) as runtime:
        await runtime.engine.worker(["product"], lease=timedelta(seconds=20)).run()


def memory_of(process: "subprocess.Popen[bytes]") -> int:
    """Return the peak memory of a process in MB."""
    try:
        text = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return int(found[1]) // 1024 if found else 0


async def run_import(
    runtime: Runtime, settings: Settings, there: Import, rows: int, kill: bool
) -> float:
    """Let worker processes do it; return the seconds that it took them, start-up left out."""
    process, peak, kills = work(settings), 0, 0
    began: float | None = None
    try:
        while True:
            await asyncio.sleep(0.05)
            assert process.poll() is None, "the worker ended"
            peak = max(peak, memory_of(process))
            now_is: Any = await runtime.operations.read(
                lambda tx, _: imports.find_import(tx, HOME, there.id)
            )
            if began is None and now_is.read_rows:
                began, first = time.perf_counter(), now_is.read_rows
            if kill and not kills and now_is.read_rows > rows // 2:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                process = work(settings)
            if now_is.state != "running":
                break
        assert began is not None, now_is
        took = time.perf_counter() - began
    finally:
        process.kill()
        process.wait()
    count = await runtime.operations.read(lambda tx, _: tx.value("SELECT count(*) FROM contact"))
    assert (now_is.state, now_is.created, count) == ("done", rows, rows), now_is
    print(f"  memory of the worker at most {peak} MB; killed {kills} times; {count:,} contacts")
    assert peak <= MEMORY, f"{peak} MB"
    return (rows - first) / took


async def plain_sqlite(source: Path, target: Path) -> float:
    """Load the same rows by executemany into the same tables; return contacts per second."""
    tables = _dump_sqlite(source)
    database = sqlite3.connect(target, isolation_level=None)
    database.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
    )
    took = 0.0
    for name, (columns, rows) in tables.items():
        marks = ", ".join("?" * len(columns))
        while chunk := rows.fetchmany(5_000):
            began = time.perf_counter()
            database.execute("BEGIN IMMEDIATE")
            database.executemany(
                f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", chunk
            )
            database.execute("COMMIT")
            took += time.perf_counter() - began
    (count,) = database.execute("SELECT count(*) FROM contact").fetchone()
    database.close()
    return count / took


def _dump_sqlite(source: Path) -> dict[str, tuple[list[str], Any]]:
    database = sqlite3.connect(source)
    found: dict[str, tuple[list[str], Any]] = {}
    for name in TABLES:
        cursor = database.execute(f"SELECT * FROM {name}")
        found[name] = ([each[0] for each in cursor.description], cursor)
    return found


async def plain_postgres(dsn: str) -> float:
    """Load the same rows by COPY into the same tables, emptied; return contacts per second."""
    connection = await asyncpg.connect(dsn)
    copies: dict[str, bytes] = {}
    for name in TABLES:
        with tempfile.TemporaryFile() as out:
            await connection.copy_from_table(name, output=out, format="csv", timeout=600)
            out.seek(0)
            copies[name] = out.read()
    count = await connection.fetchval("SELECT count(*) FROM contact")
    for name in reversed(TABLES):
        if name != "contact":
            await connection.execute(f"TRUNCATE {name}")
    await connection.execute("DELETE FROM contact_merge; TRUNCATE contact CASCADE")
    import io

    began = time.perf_counter()
    for name, data in copies.items():
        await connection.copy_to_table(name, source=io.BytesIO(data), format="csv", timeout=600)
    took = time.perf_counter() - began
    await connection.execute("ANALYZE")
    await connection.close()
    return count / took


FILTERS: dict[str, tuple[Condition, ...]] = {
    "all": (),
    "tag, common": (Condition("tag", "is", "tag3"),),
    "tag, rare": (Condition("tag", "is", "rare"),),
    "consent": (Condition("consent", "is", "unknown"),),
    "channel": (Condition("channel", "is", "email"),),
    "country and tag": (Condition("country", "is", "FR"), Condition("tag", "is", "tag3")),
    "company": (Condition("company", "is", "Company 42"),),
    "company begins": (Condition("company", "begins", "Company 4"),),
    "search, a name": (Condition("search", "is", "ada"),),
    "search, an address": (Condition("search", "is", "person77"),),
    "search, a domain": (Condition("search", "is", "@company42.example"),),
    "age at least 80": (Condition("fields.age", "at_least", 80),),
    "age is 30, not tag3": (Condition("age", "is", 30), Condition("tag", "is_not", "tag3")),
    "created since": (Condition("created", "at_least", "2026-01-01"),),
}


async def ask(runtime: Runtime, conditions: tuple[Condition, ...]) -> float:
    began = time.perf_counter()
    found: Any = await runtime.operations.read(
        lambda tx, _: find.list_contacts(tx, workspace_id=HOME, conditions=conditions)
    )
    took = time.perf_counter() - began
    assert found.contacts, conditions
    return took


async def compare_lists(few: Runtime, many: Runtime) -> bool:
    """Ask both for each first page, in turns."""
    good = True
    for name, conditions in FILTERS.items():
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(15):
            times[0].append(await ask(few, conditions))
            times[1].append(await ask(many, conditions))
        small, large = (statistics.median(each[3:]) for each in times)
        good &= large / small <= LISTS
        print(
            f"  {name:22} {small * 1000:8.2f} ms {large * 1000:8.2f} ms {large / small:6.2f} times"
        )
    return good


async def main(kind: str, rows: int, *, kill: bool) -> int:
    """Import, load plainly, then compare lists."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        sides: dict[int, Runtime] = {}
        ratio = 0.0
        for size in (FEW, rows):
            place = folder / str(size)
            place.mkdir()
            path = place / "people.csv"
            write_csv(path, size)
            address = f"sqlite:///{place}/product.sqlite3"
            if kind == "postgres":
                address = stack.enter_context(PrivatePostgres.create(fsync=True)).dsn
            settings = Settings(data=place, database=address)
            runtime = await stack.enter_async_context(open_runtime(settings))
            sides[size] = runtime
            there = await prepare(runtime, path)
            print(f"{kind}: {size:,} rows", flush=True)
            ours = await run_import(runtime, settings, there, size, kill and size == rows)
            if size == rows:
                if kind == "postgres":
                    plain = await plain_postgres(address)
                else:
                    other = place / "plain"
                    other.mkdir()
                    empty = Settings(data=other, database=f"sqlite:///{other}/product.sqlite3")
                    async with open_runtime(empty) as spare:
                        new = NewWorkspace(id=HOME, name=HOME, zone="UTC")
                        await spare.operations.run(
                            lambda tx, now, new=new: create_workspace(tx, now, new=new, by="system")
                        )
                    plain = await plain_sqlite(place / "product.sqlite3", other / "product.sqlite3")
                ratio = ours / plain
                print(f"  import {ours:,.0f} rows/s, plain load {plain:,.0f} rows/s: {ratio:.2f}")
            elif kind == "postgres":
                await runtime.operations.run(lambda tx, _: tx.run("ANALYZE"))
        print(f"{kind}: first page at {FEW:,} and {rows:,}", flush=True)
        good = await compare_lists(sides[FEW], sides[rows])
    print(f"import at least {BAR}: {ratio >= BAR or kill}; lists within {LISTS} times: {good}")
    return 0 if (ratio >= BAR or kill) and good else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["worker"]:
        asyncio.run(be_worker())
        sys.exit(0)
    numbers = [int(word) for word in words if word.isdigit()]
    which = next((word for word in words if word in ("sqlite", "postgres")), "sqlite")
    sys.exit(asyncio.run(main(which, (numbers or [MANY])[0], kill="--kill" in words)))
