"""An application at work before browsers: a worker runs, the networks are simulated, the clock is the machine's."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser

from cadenza.bootstrap import open_runtime, run_worker
from cadenza.config.model import Outbound, Settings, Work
from cadenza.demo.cast import Cast
from tests.browser.stage import Stage, move_in, open_doors


@asynccontextmanager
async def open_at_work(browser: Browser, folder: Path, cast: Cast) -> AsyncGenerator[Stage]:
    """Open a workspace whose due messages go out to the cast's networks."""
    settings = Settings(
        data=folder,
        database=f"sqlite:///{folder}/product.sqlite3",
        worker=Work(poll=0.1),
        outbound=Outbound(allow=cast.hosts),
        providers=cast.networks,
    )
    async with AsyncExitStack() as opened:
        runtime = await opened.enter_async_context(open_runtime(settings))
        stop = asyncio.Event()
        work = asyncio.create_task(run_worker(runtime, stop))
        opened.push_async_callback(asyncio.wait_for, work, 30)
        opened.callback(stop.set)
        stage = await opened.enter_async_context(open_doors(runtime, browser))
        await runtime.operations.run(lambda tx, now: move_in(tx, now, stage))
        yield stage
