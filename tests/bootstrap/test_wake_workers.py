"""A worker that waits is woken by what people do, in its own process or in another, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import Work
from cadenza.deliveries import lanes
from cadenza.deliveries.change import publish_now, retry
from cadenza.engine.store import Batch
from cadenza.sql.tx import Tx
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import working

LATER = timedelta(hours=3)
LONG = 45.0  # seconds between looks: nobody waits for one here
SOON = 20.0  # seconds that a busy machine may take


@asynccontextmanager
async def waiting(town: Town, *, apart: bool) -> AsyncGenerator[Runtime]:
    """Let a worker wait; give the application of whoever acts, the worker's own or one beside it."""
    settings = replace(town.settings, worker=Work(poll=LONG))
    async with open_runtime(settings) as runtime:
        await town.furnish(runtime)
        looked = notice_idle(runtime)
        async with working(runtime):
            await asyncio.wait_for(looked.wait(), SOON)
            if not apart:
                yield runtime
                return
            async with open_runtime(settings) as other:
                yield other


def notice_idle(runtime: Runtime) -> asyncio.Event:
    """Give an event that is set once the worker has looked and found nothing."""
    looked, claim = asyncio.Event(), runtime.source.claim

    async def look(*args: Any, **words: Any) -> Batch:
        batch = await claim(*args, **words)
        if not batch.jobs:
            looked.set()
        return batch

    runtime.source.claim = look
    return looked


async def sent(town: Town, runtime: Runtime, id_: str) -> None:
    async with asyncio.timeout(SOON):
        while (await town.row(runtime, id_))["state"] != "sent":
            await asyncio.sleep(0.02)


async def add(town: Town, runtime: Runtime) -> str:
    return await town.post(runtime, "added")


async def hurry(town: Town, runtime: Runtime) -> str:
    id_ = await town.post(runtime, "sent now", due=LATER)
    await runtime.operations.run(lambda tx, now: publish_now(tx, now, workspace_id=HOME, id=id_))
    return id_


async def try_again(town: Town, runtime: Runtime) -> str:
    id_ = await town.post(runtime, "tried again", due=LATER)

    def fail(tx: Tx, now: datetime) -> None:
        tx.run(
            "UPDATE delivery SET state = 'failed', failed_at = :now, reason = 'no' WHERE id = :id",
            id=id_,
            now=now,
        )

    await runtime.operations.run(fail)
    await runtime.operations.run(lambda tx, now: retry(tx, now, workspace_id=HOME, id=id_))
    return id_


async def go_on(town: Town, runtime: Runtime) -> str:
    account: dict[str, Any] = {"workspace_id": HOME, "scope": "account:ada"}
    await runtime.operations.run(lambda tx, _: lanes.pause(tx, **account, reason="lunch"))
    id_ = await town.post(runtime, "after lunch")
    await runtime.operations.run(lambda tx, _: lanes.resume(tx, **account))
    return id_


@pytest.mark.parametrize("apart", [False, True], ids=["one process", "two processes"])
@pytest.mark.parametrize("act", [add, hurry, try_again, go_on])
async def test_what_may_go_now_is_sent_at_once(
    town: Town, act: Callable[[Town, Runtime], Awaitable[str]], *, apart: bool
) -> None:
    async with waiting(town, apart=apart) as runtime:
        await sent(town, runtime, await act(town, runtime))
