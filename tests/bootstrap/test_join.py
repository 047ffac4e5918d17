"""A machine that is new to a database: it joins those that are at work, and alone it lets nothing leave.

A second machine is a second data folder with a copy of the key file, and no witness. Dumps and copies are real.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from cadenza.bootstrap import Runtime, guard, open_runtime
from cadenza.bootstrap.guard import read_witness
from cadenza.cli.run import run
from cadenza.config.model import Settings
from tests.bootstrap.conftest import Town
from tests.bootstrap.test_guard import confirmed, copy, lived
from tests.bootstrap.test_restore import call, states
from tests.bootstrap.test_work import until, working


@pytest.fixture
def lively(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the others as long as it takes; they give signs of life often."""
    monkeypatch.setattr(guard, "PATIENCE", 1e9)
    monkeypatch.setattr(guard, "EVERY", 0.2)


def elsewhere(settings: Settings, folder: Path, database: str | None = None) -> Settings:
    """Name the settings of another machine, which has the keys and nothing else."""
    folder.mkdir()
    if settings.keys.exists():
        shutil.copy(settings.keys, folder / "keys")
    address = database or settings.database_address
    return replace(settings, data=folder, database=address)


async def moved(town: Town, folder: Path) -> str:
    """Copy the database as it is now to another place; return its address."""
    address = town.settings.database_address
    if address.startswith("sqlite"):
        await asyncio.to_thread(
            copy, Path(address.removeprefix("sqlite:///")), folder / "copy.sqlite3"
        )
        return f"sqlite:///{folder / 'copy.sqlite3'}"
    dump, name = folder / "moments-ago.dump", f"elsewhere_{folder.name[-20:]}".replace("-", "_")
    await asyncio.to_thread(call, "pg_dump", "--format=custom", f"--file={dump}", address)
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
        old: str = await connection.fetchval("SELECT current_database()")
    finally:
        await connection.close()
    new = address.replace(old, name)
    await asyncio.to_thread(call, "pg_restore", "--exit-on-error", f"--dbname={new}", str(dump))
    return new


@asynccontextmanager
async def standing(settings: Settings) -> AsyncGenerator[Runtime]:
    async with open_runtime(settings) as runtime, working(runtime):
        yield runtime


@pytest.mark.parametrize("old_one", ["runs on", "is gone"])
async def test_a_backup_that_is_restored_on_a_new_machine_sends_nothing_again(
    town: Town, runtime: Runtime, tmp_path: Path, old_one: str
) -> None:
    due = [await town.post(runtime, f"post {number}") for number in range(3)]
    await lived(runtime)
    address = await moved(town, tmp_path)
    async with working(runtime):
        for id_ in due:
            await until(town, runtime, id_, "sent")
        if old_one == "runs on":
            await nothing_leaves_there(town, tmp_path, address)
    if old_one == "is gone":
        await nothing_leaves_there(town, tmp_path, address)
    assert sorted(town.visible()) == ["post 0", "post 1", "post 2"]


async def nothing_leaves_there(town: Town, folder: Path, address: str) -> None:
    there = elsewhere(town.settings, folder / "new-machine", address)
    async with standing(there) as runtime:
        signs = runtime.guard.signs
        assert signs is not None
        assert signs.hold is not None
        assert "may be restored from a backup" in signs.hold.message
        assert set((await states(runtime)).values()) == {"missed"}
    async with standing(there) as runtime:  # a restart changes nothing
        assert runtime.source.held
        await confirmed(runtime)
        await runtime.guard.run_once()
        assert not runtime.source.held
    async with standing(there) as runtime:
        assert not runtime.source.held, "once confirmed, the new machine knows its database"


@pytest.mark.usefixtures("lively")
async def test_a_second_machine_joins_one_that_is_at_work_and_stops_nobody(
    town: Town, runtime: Runtime, tmp_path: Path
) -> None:
    await town.post(runtime, "planned")
    async with working(runtime):
        there = elsewhere(town.settings, tmp_path / "second")
        async with standing(there) as second:
            assert not second.source.held
            assert not runtime.source.held
            witness = read_witness(there.witness)
            assert witness is not None
            assert runtime.guard.signs is not None
            assert witness.lineage == runtime.guard.signs.witness.lineage
    async with standing(there) as second:  # by itself, later: it is known now
        assert not second.source.held


async def test_two_new_machines_are_no_proof_to_each_other(
    town: Town, runtime: Runtime, tmp_path: Path
) -> None:
    await town.post(runtime, "planned")
    await lived(runtime)
    first, second = (elsewhere(town.settings, tmp_path / name) for name in ("one", "two"))
    async with open_runtime(first) as one, open_runtime(second) as two:
        never = asyncio.Event()
        await asyncio.gather(one.guard.enter(one.clock, never), two.guard.enter(two.clock, never))
        assert (one.source.held, two.source.held) == (True, True)
    assert town.visible() == []


@pytest.mark.usefixtures("lively")
async def test_the_same_machine_starts_again_without_waiting(town: Town, runtime: Runtime) -> None:
    await town.post(runtime, "planned")
    await lived(runtime)
    async with standing(town.settings) as again:
        assert not again.source.held


@pytest.mark.usefixtures("lively")
async def test_a_new_machine_beside_an_empty_database_just_works(
    town: Town, runtime: Runtime, tmp_path: Path
) -> None:
    await lived(runtime)
    async with standing(elsewhere(town.settings, tmp_path / "second")) as second:
        assert not second.source.held


@pytest.mark.usefixtures("lively")
async def test_a_machine_of_another_installation_joins_one_that_is_at_work(
    town: Town, runtime: Runtime, tmp_path: Path
) -> None:
    await town.post(runtime, "planned")
    there = elsewhere(town.settings, tmp_path / "second")
    there.witness.write_text('{"lineage": "of another", "generation": 7, "epoch": 7000}')
    async with working(runtime), standing(there) as second:
        assert not second.source.held
        await runtime.guard.run_once()
        assert not runtime.source.held


@pytest.mark.usefixtures("lively")
async def test_a_new_machine_that_is_told_to_stop_does_not_wait_on(
    town: Town, runtime: Runtime, tmp_path: Path
) -> None:
    await town.post(runtime, "planned")
    await lived(runtime)
    async with open_runtime(elsewhere(town.settings, tmp_path / "second")) as second:
        stop = asyncio.Event()
        waiting = asyncio.create_task(second.guard.enter(second.clock, stop))
        async with asyncio.timeout(30):
            while second.guard.newcomer.since is None:
                await asyncio.sleep(0.01)
        stop.set()
        await asyncio.wait_for(waiting, 30)
        assert second.source.held
    await runtime.guard.run_once()
    assert not runtime.source.held


async def test_a_person_can_say_that_a_new_machine_takes_over_the_current_database(
    town: Town,
    runtime: Runtime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    await town.post(runtime, "planned")
    await lived(runtime)
    there = elsewhere(town.settings, tmp_path / "second")
    monkeypatch.setenv("CADENZA_DATA", str(there.data))
    monkeypatch.setenv("CADENZA_DATABASE", there.database_address)
    assert await asyncio.to_thread(run, ["db", "join"]) == 1
    assert "no other machine" in capfd.readouterr().err
    assert read_witness(there.witness) is None
    assert await asyncio.to_thread(run, ["db", "join", "--current", "--by", "Ada"]) == 0
    async with standing(there) as second:
        assert not second.source.held


@pytest.mark.usefixtures("lively")
async def test_a_person_can_let_a_machine_join_before_it_starts(
    town: Town, runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await town.post(runtime, "planned")
    there = elsewhere(town.settings, tmp_path / "second")
    monkeypatch.setenv("CADENZA_DATA", str(there.data))
    monkeypatch.setenv("CADENZA_DATABASE", there.database_address)
    async with working(runtime):
        assert await asyncio.to_thread(run, ["db", "join"]) == 0
    async with standing(there) as second:
        assert not second.source.held


async def test_a_confirmation_on_a_machine_that_stands_still_lets_it_start(
    town: Town, runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await town.post(runtime, "planned")
    await lived(runtime)
    there = elsewhere(town.settings, tmp_path / "second")
    async with standing(there) as second:
        assert second.source.held
    monkeypatch.setenv("CADENZA_DATA", str(there.data))
    monkeypatch.setenv("CADENZA_DATABASE", there.database_address)
    assert await asyncio.to_thread(run, ["db", "confirm"]) == 0
    async with standing(there) as second:
        assert not second.source.held
