"""One process that serves, and works as well if it is asked to, until a signal says stop.

SIGTERM or Ctrl-C: nothing new is begun, what runs gets its grace, the rest goes back; a second signal
waits for nothing, and a blocked event loop ends with the grace. If one half breaks, the other is stopped and
the error is raised.
"""

import asyncio
import contextlib
import gc
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from cadenza.api.app import create_app
from cadenza.api.connections import Limits
from cadenza.api.serve import GRACE, serve
from cadenza.bootstrap import open_runtime, run_worker
from cadenza.bootstrap.model import Runtime
from cadenza.cli.logs import LogStyle, log_to
from cadenza.cli.signals import listen_for_signals
from cadenza.config.model import Settings

Greet = Callable[[Runtime], Awaitable[None]]


async def run_server(
    settings: Settings, *, worker: bool, greet: Greet, prepare: Greet | None = None
) -> None:
    """Serve until told to stop; `greet` is called once people may come."""
    stop, hurry = listen_for_signals(max(GRACE, settings.worker.grace) if worker else GRACE)
    async with open_runtime(settings) as runtime:
        if prepare is not None:
            await prepare(runtime)
        await attend(runtime, stop, hurry, worker=worker, greet=greet)


async def attend(
    runtime: Runtime, stop: asyncio.Event, hurry: asyncio.Event, *, worker: bool, greet: Greet
) -> None:
    """Run the halves on an open runtime."""
    # Before anybody can change what a restored database has planned.
    await runtime.guard.enter(runtime.clock, stop)
    listening, working = asyncio.Event(), asyncio.Event()
    listen = runtime.settings.listen
    app = create_app(runtime, stop=stop)
    freeze_garbage()
    serving = serve(
        app,
        listen.host,
        listen.port,
        stop,
        proxies=listen.proxies,
        hurry=hurry,
        started=lambda _: listening.set(),
        limits=Limits(per_address=listen.connections_per_address),
        path=runtime.settings.socket,
    )
    parts = [asyncio.ensure_future(serving)]
    if worker:
        parts.append(asyncio.ensure_future(run_worker(runtime, stop, hurry=hurry, started=working)))
    else:
        parts.append(asyncio.ensure_future(runtime.guard.keep(runtime.clock, stop)))
        working.set()
    ready = asyncio.gather(listening.wait(), working.wait())
    try:
        await asyncio.wait([ready, *parts], return_when=asyncio.FIRST_COMPLETED)
        if ready.done() and not stop.is_set():
            await greet(runtime)
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.set()
        ready.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ready
        await asyncio.gather(*parts)


def freeze_garbage() -> None:
    """Take what was made to last out of the garbage collector's rounds.

    It walks through all of a process now and then, which held up every request for 50 to 90 ms.
    """
    gc.collect()
    gc.freeze()


def placed(
    settings: Settings, *, host: str | None, port: int | None, data: Path | None
) -> Settings:
    """Put what was said on the command line over the settings."""
    listen = settings.listen
    return replace(
        settings,
        data=data or settings.data,
        listen=replace(
            listen,
            host=listen.host if host is None else host,
            port=listen.port if port is None else port,
        ),
    )


def start_logging(settings: Settings, log: LogStyle | None, level: str | None) -> None:
    """Log to the error stream; where nobody set a level, only what somebody should know."""
    style = log or (None if settings.log == "auto" else LogStyle(settings.log))
    usual = settings.log_level if "log_level" in settings.origins else "warning"
    log_to(sys.stderr, style=style, level=level or usual)
