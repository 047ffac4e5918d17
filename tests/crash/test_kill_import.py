"""kill -9 of a real worker in the middle of an import: the next worker goes on, and nobody is imported twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import Settings, Work
from tests.contacts.conftest import HOME, Desk, settle_in
from tests.crash.nursery import Nursery, Worker

ROWS, KILLS = 3_000, 1  # each kill waits for the end of a lease of background jobs: 30 s
PATIENCE = 60.0  # seconds, for a busy machine
WORK = Work(lease=2.0, poll=0.2, grace=5)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery.open("tests.crash.import_program:run", "cadenza.cli.worker")
    yield opened
    opened.close()


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_runtime(Settings(data=tmp_path, database=database, worker=WORK)) as runtime:
        await runtime.operations.run(settle_in)
        yield Desk(runtime, tmp_path)


def hire(nursery: Nursery, runtime: Runtime, log: Path) -> Worker:
    ours = {
        "CADENZA_DATA": str(runtime.settings.data),
        "CADENZA_DATABASE": runtime.settings.database,
        "CADENZA_WORKER_LEASE": str(WORK.lease),
        "CADENZA_WORKER_POLL": str(WORK.poll),
        "CADENZA_LOG": "json",
    }
    env = {**os.environ, **ours}
    return nursery.hire(["worker"], env=env, log=log, folder=runtime.settings.data)


async def test_an_import_whose_worker_is_killed_goes_on_without_a_double(
    desk: Desk, nursery: Nursery, tmp_path: Path
) -> None:
    text = "email,first name,tags\n"
    text += "".join(f"p{n}@example.org,Ben {n},t{n % 3}\n" for n in range(ROWS))
    there = await desk.upload(text)
    await desk.start(there)
    log, met = tmp_path / "worker.log", 0
    for _ in range(KILLS):
        worker = hire(nursery, desk.runtime, log)
        try:
            async with asyncio.timeout(PATIENCE):
                while (now := await desk.found(there)).read_rows <= met:
                    assert now.state == "running", log.read_text()
                    await asyncio.sleep(0.005)
        finally:
            worker.kill()
        half = await desk.found(there)
        assert half.state == "running", "it was over before the worker was killed"
        met = half.read_rows
        assert half.created == len(await desk.rows("SELECT id FROM contact"))
    worker = hire(nursery, desk.runtime, log)
    try:
        async with asyncio.timeout(PATIENCE):
            while (done := await desk.found(there)).state != "done":
                await asyncio.sleep(0.05)
    finally:
        worker.send(signal.SIGTERM)
        assert worker.wait(20), log.read_text()
    counts = (done.created, done.updated, done.unchanged, done.refused)
    assert counts == (ROWS, 0, 0, 0)
    (stored,) = await desk.rows(
        """
        SELECT (SELECT count(*) FROM contact WHERE workspace_id = :home) AS people,
            (SELECT count(*) FROM contact_tag WHERE workspace_id = :home) AS tags
        """,
        home=HOME,
    )
    assert stored == {"people": ROWS, "tags": ROWS}
    events = await desk.rows("SELECT kind FROM outbox WHERE workspace_id = :home", home=HOME)
    assert [row["kind"] for row in events] == ["import.done"]
