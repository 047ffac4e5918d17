"""`cadenza worker`: send what is due until told to stop; or run the jobs of an application's engine.

Without an argument it is the product's worker and reads the settings. ENGINE is `module:engine`, found
from the working folder or wherever Python finds it. SIGTERM and Ctrl-C stop gracefully: nothing new is
claimed, what runs gets its grace, the rest goes back.
"""

import importlib
import logging
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.bootstrap import open_runtime, run_worker
from cadenza.cli.codes import UsageError
from cadenza.cli.logs import LogStyle, log_to
from cadenza.cli.numbers import SomeCount, SomePort
from cadenza.cli.settings import USUAL, ConfigOptions
from cadenza.cli.signals import listen_for_signals
from cadenza.config.model import Settings
from cadenza.engine.client import Engine
from cadenza.engine.errors import InvalidJob, UnknownName, unknown

app = App(name="worker", help="Send what is due; or run the jobs of an application's engine.")


@app.default
async def worker(
    engine: str | None = None,
    /,
    *,
    queue: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    concurrency: SomeCount = None,
    name: str | None = None,
    lease: timedelta | None = None,
    grace: timedelta | None = None,
    schedules: bool = True,
    metrics_port: SomePort = None,
    log: Annotated[LogStyle | None, Parameter(env_var="CADENZA_LOG")] = None,
    log_level: str | None = None,
    chosen: ConfigOptions = USUAL,
) -> None:
    """Work until told to stop: send what is due, or run the jobs of the engine that is named.

    Parameters
    ----------
    engine
        Where an application's engine is, as module:name, for example shop.jobs:engine. Without it
        this is Cadenza's own worker, set up by cadenza.toml and the environment.
    queue
        Serve this queue; may be said several times. Without it: the queues of the declared tasks.
    concurrency
        So many at once (20).
    name
        Known by this name; without it host and process number.
    lease
        A worker silent for so long loses its work to others (30s; sending: 60s).
    grace
        So long may what runs take to finish when stopping (20s).
    schedules
        Fire due schedules as well.
    metrics_port
        Serve Prometheus metrics on this port of 127.0.0.1.
    log
        How log lines look: console or json. Without it console on a terminal, else json.
    log_level
        The least serious level that is logged: debug, info (the default), warning or error.
    """
    if engine is None:
        settings = _changed(chosen.settings(), concurrency=concurrency, lease=lease, grace=grace)
        style = log or (None if settings.log == "auto" else LogStyle(settings.log))
        log_to(sys.stderr, style=style, level=log_level or settings.log_level)
        await work(settings, name=name)
        return
    log_to(sys.stderr, style=log, level=log_level or "info")
    found = find_engine(engine)
    if not found.tasks:
        logging.getLogger("cadenza.cli").warning(
            "this engine declares no tasks: import the modules that do", extra={"engine": engine}
        )
    async with found:
        hired = found.worker(
            queue or queues_of(found),
            name=name,
            concurrency=20 if concurrency is None else concurrency,
            schedules=schedules,
            lease=lease or timedelta(seconds=30),
            grace=20.0 if grace is None else grace.total_seconds(),
        )
        hired.stop_on_signals()
        if metrics_port is None:
            await hired.run()
            return
        from cadenza.cli.metrics import serving

        with serving(hired, found.store, metrics_port):
            await hired.run()


async def work(settings: Settings, *, name: str | None = None) -> None:
    """Run the product's worker until a signal; told a second time, it waits no longer."""
    stop, hurry = listen_for_signals(settings.worker.grace)
    async with open_runtime(settings) as runtime:
        await run_worker(runtime, stop, name=name, hurry=hurry)


def _changed(
    settings: Settings,
    *,
    concurrency: int | None,
    lease: timedelta | None,
    grace: timedelta | None,
) -> Settings:
    work = settings.worker
    return replace(
        settings,
        worker=replace(
            work,
            concurrency=work.concurrency if concurrency is None else concurrency,
            lease=work.lease if lease is None else lease.total_seconds(),
            grace=work.grace if grace is None else grace.total_seconds(),
        ),
    )


def find_engine(path: str) -> Engine:
    """Import the engine that `module:name` names; say what is wrong with the path otherwise."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"{path!r} names no engine: write module:name, for example app:engine")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, something that it imports is not: its own matter
        raise UnknownName(
            f"there is no module {module_name!r} in {here} or on Python's path"
        ) from error
    found = getattr(module, attribute, None)
    if isinstance(found, Engine):
        return found
    engines = [name for name, value in vars(module).items() if isinstance(value, Engine)]
    if found is None:
        raise UnknownName(unknown(f"engine in module {module_name}", attribute, engines))
    raise InvalidJob(f"{path} is a {type(found).__name__}, not an Engine")


def queues_of(engine: Engine) -> list[str]:
    """Name the queues that the declared tasks use."""
    return sorted({task.options.queue for task in engine.tasks.values()}) or ["default"]
