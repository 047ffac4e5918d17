"""A backup is really put back: a SQLite file is copied, a PostgreSQL is dumped and restored.

Between the backup and the restore the application goes on and sends. What the restored database would send
again is set aside, what was in a call is an unconfirmed send, and nothing leaves until a person confirms.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.cli.run import run
from cadenza.deliveries.installation import MAYBE_SENT
from tests.bootstrap.conftest import Town
from tests.bootstrap.test_guard import permitted
from tests.bootstrap.test_work import until, working
from tests.servers.postgres import find_install

PROGRAMS = Path(find_install() / "bin")
Way = tuple[Callable[[], object], Callable[[], object]]


def _with_a_file(address: str, folder: Path) -> Way:
    file, copy = Path(address.removeprefix("sqlite:///")), folder / "backup.sqlite3"

    def back_up() -> None:
        assert not file.with_name(f"{file.name}-wal").exists(), "somebody still has it open"
        shutil.copyfile(file, copy)

    return back_up, lambda: shutil.copyfile(copy, file)


def call(program: str, *words: str) -> None:
    done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _with_a_dump(address: str, folder: Path) -> Way:
    dump = folder / "backup.dump"

    def restore() -> None:
        asyncio.run(_make_empty(address))
        call("pg_restore", "--exit-on-error", f"--dbname={address}", str(dump))

    return lambda: call("pg_dump", "--format=custom", f"--file={dump}", address), restore


async def _make_empty(address: str) -> None:
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(
            "DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS cadenza CASCADE"
        )
    finally:
        await connection.close()


@pytest.fixture
def way(town: Town, tmp_path: Path) -> Way:
    address = town.settings.database_address
    kind = _with_a_file if address.startswith("sqlite") else _with_a_dump
    return kind(address, tmp_path)


async def test_a_restored_database_sends_nothing_again_and_waits_for_a_person(
    town: Town, way: Way, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up, restore = way
    async with open_runtime(town.settings) as runtime:
        await town.furnish(runtime)
        # What is in its call would else keep the others waiting.
        await runtime.operations.run(
            lambda tx, _: tx.run("UPDATE lane SET in_flight_limit = 9, width = 9")
        )
        async with working(runtime):
            before = await town.post(runtime, "before the backup")
            runtime.source.nudge()
            await until(town, runtime, before, "sent")
        calling = await town.post(runtime, "in its call")
        await permitted(runtime)
        due = await town.post(runtime, "due, not called yet")
        later = await town.post(runtime, "of tomorrow", due=timedelta(days=1))
    await asyncio.to_thread(back_up)

    async with open_runtime(town.settings) as runtime, working(runtime):
        since = await town.post(runtime, "written after the backup")
        runtime.source.nudge()
        for id_ in (due, since):
            await until(town, runtime, id_, "sent")
        seen = ["before the backup", "due, not called yet", "written after the backup"]
        assert sorted(town.visible()) == seen
    await asyncio.to_thread(restore)

    async with open_runtime(town.settings) as runtime, working(runtime):
        assert runtime.source.held
        assert await states(runtime) == {
            before: "sent",
            calling: "unconfirmed",
            due: "missed",
            later: "scheduled",
        }
        assert (await town.row(runtime, due))["reason"] == MAYBE_SENT.text
        fresh = await town.post(runtime, "while it is held")

        monkeypatch.setenv("CADENZA_DATA", str(town.settings.data))
        monkeypatch.setenv("CADENZA_DATABASE", town.settings.database_address)
        assert await asyncio.to_thread(run, ["db", "status"]) == 1
        assert "restored from a backup" in capfd.readouterr().out
        assert await asyncio.to_thread(run, ["db", "confirm", "--by", "Ada"]) == 0
        assert "may be out" in capfd.readouterr().out

        await runtime.guard.run_once()
        after = await town.post(runtime, "after the person's word")
        runtime.source.nudge()
        await until(town, runtime, after, "sent")
        assert (await states(runtime))[fresh] == "missed"
    assert sorted(town.visible()) == sorted([*seen, "after the person's word"])


async def states(runtime: Runtime) -> dict[str, str]:
    rows = await runtime.operations.read(lambda tx, _: tx.all("SELECT id, state FROM delivery"))
    return {row["id"]: row["state"] for row in rows}
