"""Several processes on one file of jobs: each job to one worker, and a dead one's jobs come back."""

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Filter, NewJob, State
from cadenza.engine.stores.sqlite import SqliteStore, insert_jobs
from cadenza.sql import sqlite_connect

LEASE = timedelta(seconds=30)
HEAD = """
import asyncio, os, signal, sys
from datetime import timedelta
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.sqlite import SqliteStore
LEASE = timedelta(seconds=30)
store = SqliteStore(sys.argv[1])
"""


def start(program: str, path: str) -> subprocess.Popen[str]:
    text = HEAD + textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", text, path], stdout=subprocess.PIPE, text=True)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "jobs.db")


async def test_three_processes_hand_each_job_out_once(path: str) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.insert([NewJob(task="greet") for _ in range(2000)])
    program = """
        async def main():
            await store.open()
            while (batch := await store.claim("default", limit=23, worker="ada", lease=LEASE)).jobs:
                print(*(job.id for job in batch.jobs), sep="\\n")
                settlements = [Settlement(job.id, batch.lease) for job in batch.jobs]
                assert await store.settle(settlements, closed=[batch.lease]) == []
            await store.close()

        asyncio.run(main())
    """
    children = [start(program, path) for _ in range(3)]
    handed = [int(line) for child in children for line in child.communicate(timeout=60)[0].split()]

    assert sorted(handed) == list(range(1, 2001))
    assert [tally.state for tally in await store.tally()] == [State.DONE]
    await store.close()


async def test_a_killed_process_loses_its_jobs_to_the_next(path: str) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.insert([NewJob(task="greet") for _ in range(5)])
    program = """
        async def main():
            await store.open()
            await store.claim("default", limit=3, worker="ada", lease=timedelta(milliseconds=1))
            os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """
    child = start(program, path)
    child.communicate(timeout=60)
    assert child.returncode == -9
    await asyncio.sleep(0.01)

    rescued = await store.rescue(crash_limit=5)

    assert rescued.returned == (1, 2, 3)
    assert [job.crashes for job in await store.get([1, 4])] == [1, 0]
    await store.close()


async def test_a_job_joins_the_callers_own_transaction(path: str) -> None:
    store = SqliteStore(path)
    await store.open()
    heard: list[str] = []
    stop = store.watch(heard.append)
    database = store.database
    await database.run(lambda tx, _now: tx.execute("CREATE TABLE post (text TEXT)") and None)

    def add_post(tx: sqlite3.Connection, now: int) -> int:
        tx.execute("INSERT INTO post VALUES ('Hello')")
        (answer,) = insert_jobs(tx, now, [NewJob(task="publish")])
        return answer.id

    def add_and_fail(tx: sqlite3.Connection, now: int) -> None:
        add_post(tx, now)
        raise LookupError("Cy has no account here")

    id_ = await database.run(add_post)
    with pytest.raises(LookupError):
        await database.run(add_and_fail)

    assert [job.id for job in await store.find(Filter())] == [id_]
    stop()
    await store.close()


async def test_two_stores_may_share_one_open_database(path: str) -> None:
    first = SqliteStore(path)
    await first.open()
    second = SqliteStore(path, database=first.database)
    await second.open()
    await first.insert([NewJob(task="greet")])

    batch = await second.claim("default", limit=1, worker="ada", lease=LEASE)
    await second.close()

    assert [job.id for job in batch.jobs] == [1]
    assert len(await first.find(Filter())) == 1  # its owner still has it open
    await first.close()


async def test_a_locked_file_is_told_as_a_store_that_is_away(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connect, "BUSY_TIMEOUT_MS", 20)
    store = SqliteStore(path)
    await store.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable, match="try again"):
        await store.insert([NewJob(task="greet")])

    other.close()
    assert (await store.insert([NewJob(task="greet")]))[0].inserted
    await store.close()


async def test_a_store_that_is_not_open_says_so(path: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"call open\(\) first"):
        await SqliteStore(path).insert([NewJob(task="greet")])


async def test_doctor_is_told_of_version_journal_and_hazards(path: str) -> None:
    store = SqliteStore(path)
    await store.open()
    signs = await store.vital_signs()
    assert signs["journal"] == "wal"
    assert signs["warnings"] == "none"
    await store.close()
