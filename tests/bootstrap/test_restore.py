"""A backup is really put back: a SQLite file is copied, a PostgreSQL is dumped and restored.

Between the backup and the restore the house goes on and sends. What the restored database would send
again is set aside, what was in a call is a doubt, and nothing leaves until a person confirms.
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

from cadenza.bootstrap import House, open_house
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
    async with open_house(town.settings) as house:
        await town.furnish(house)
        # What is in its call would else keep the others waiting.
        await house.operations.run(lambda tx, _: tx.run("UPDATE lane SET in_flight_limit = 9"))
        async with working(house):
            before = await town.post(house, "before the backup")
            house.source.nudge()
            await until(town, house, before, "sent")
        calling = await town.post(house, "in its call")
        await permitted(house)
        due = await town.post(house, "due, not called yet")
        later = await town.post(house, "of tomorrow", due=timedelta(days=1))
    await asyncio.to_thread(back_up)

    async with open_house(town.settings) as house, working(house):
        since = await town.post(house, "written after the backup")
        house.source.nudge()
        for id_ in (due, since):
            await until(town, house, id_, "sent")
        seen = ["before the backup", "due, not called yet", "written after the backup"]
        assert sorted(town.visible()) == seen
    await asyncio.to_thread(restore)

    async with open_house(town.settings) as house, working(house):
        assert house.source.held
        assert await states(house) == {
            before: "sent",
            calling: "unconfirmed",
            due: "missed",
            later: "scheduled",
        }
        assert (await town.row(house, due))["reason"] == MAYBE_SENT
        fresh = await town.post(house, "while it is held")

        monkeypatch.setenv("CADENZA_DATA", str(town.settings.data))
        monkeypatch.setenv("CADENZA_DATABASE", town.settings.database_address)
        assert await asyncio.to_thread(run, ["db", "status"]) == 1
        assert "restored from a backup" in capfd.readouterr().out
        assert await asyncio.to_thread(run, ["db", "confirm", "--by", "Ada"]) == 0
        assert "may be out" in capfd.readouterr().out

        await house.guard.run_once()
        after = await town.post(house, "after the person's word")
        house.source.nudge()
        await until(town, house, after, "sent")
        assert (await states(house))[fresh] == "missed"
    assert sorted(town.visible()) == sorted([*seen, "after the person's word"])


async def states(house: House) -> dict[str, str]:
    rows = await house.operations.read(lambda tx, _: tx.all("SELECT id, state FROM delivery"))
    return {row["id"]: row["state"] for row in rows}
