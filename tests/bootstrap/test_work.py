"""The whole house at work: what is due leaves, product jobs run, a stop is graceful."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from cadenza.bootstrap import ProductJob, Runtime, open_runtime, run_worker
from cadenza.demo.simulator.faults import Kind
from tests.bootstrap.conftest import Town


@asynccontextmanager
async def working(runtime: Runtime) -> AsyncGenerator[None]:
    stop, started = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(run_worker(runtime, stop, started=started))
    await asyncio.wait_for(started.wait(), 60)
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, 60)


async def until(town: Town, runtime: Runtime, id_: str, state: str) -> None:
    async with asyncio.timeout(60):
        while (await town.row(runtime, id_))["state"] != state:
            await asyncio.sleep(0.02)


async def test_a_due_post_leaves_through_the_whole_house(town: Town, runtime: Runtime) -> None:
    async with working(runtime):
        id_ = await town.post(runtime, "Good morning")
        runtime.source.nudge()
        await until(town, runtime, id_, "sent")
    assert town.visible() == ["Good morning"]


async def test_another_process_of_the_house_needs_no_nudge(town: Town, runtime: Runtime) -> None:
    async with working(runtime), open_runtime(town.settings) as other:
        id_ = await town.post(other, "From next door")
        await until(town, runtime, id_, "sent")
    assert town.visible() == ["From next door"]


async def test_a_product_job_gets_the_house_and_its_payload(town: Town) -> None:
    seen: list[tuple[str, Mapping[str, Any]]] = []
    done = asyncio.Event()

    async def run(runtime: Runtime, payload: Mapping[str, Any]) -> None:
        seen.append((runtime.settings.home, payload))
        done.set()

    job = ProductJob(name="say_hello", run=run, cron="0 3 * * *", payload={"to": "Cy"})
    async with open_runtime(town.settings, jobs=(job,)) as runtime, working(runtime):
        assert [s.name for s in await runtime.engine.schedules()] == ["say_hello"]
        await runtime.engine.enqueue("say_hello", {"to": "Ben"})
        await asyncio.wait_for(done.wait(), 60)
    assert seen == [("http://127.0.0.1:8400", {"to": "Ben"})]


async def test_the_key_file_is_made_once_for_its_owner_alone(town: Town) -> None:
    async with open_runtime(town.settings) as runtime:
        sealed = runtime.keyring.seal("hello", row="r")
    assert town.settings.keys.stat().st_mode & 0o777 == 0o600
    async with open_runtime(town.settings) as runtime:
        assert runtime.keyring.open(sealed, row="r") == "hello"


async def test_a_call_that_outlives_its_grace_is_written_before_the_worker_goes(
    town: Town, runtime: Runtime
) -> None:
    slow = town.simulated.faults.plan(Kind.DELAY, "POST /api/v1/statuses", seconds=1.0)
    hurry, stop, started = asyncio.Event(), asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(run_worker(runtime, stop, started=started, hurry=hurry))
    await asyncio.wait_for(started.wait(), 60)
    id_ = await town.post(runtime, "On its way")
    runtime.source.nudge()
    async with asyncio.timeout(60):
        while not slow.met:
            await asyncio.sleep(0.01)
    stop.set()
    hurry.set()  # the run is cut short now; its call is not
    await asyncio.wait_for(running, 60)
    assert (await town.row(runtime, id_))["state"] == "sent"
    assert town.visible() == ["On its way"]
