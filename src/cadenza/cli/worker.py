"""`cadenza worker`: run the jobs of an application's engine until told to stop.

APP is `module:engine`, found from the working folder or wherever Python finds it. SIGTERM and
Ctrl-C stop gracefully: nothing new is claimed, what runs gets its grace, the rest goes back.
"""

import importlib
import logging
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.cli.logs import LogStyle, log_to
from cadenza.engine.client import Engine
from cadenza.engine.errors import InvalidJob, UnknownName, unknown

app = App(name="worker", help="Run the jobs of an application's engine.")


@app.default
async def worker(
    engine: str,
    /,
    *,
    queue: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    concurrency: int = 20,
    name: str | None = None,
    lease: timedelta = timedelta(seconds=30),
    grace: timedelta = timedelta(seconds=20),
    schedules: bool = True,
    metrics_port: int | None = None,
    log: Annotated[LogStyle | None, Parameter(env_var="CADENZA_LOG")] = None,
    log_level: str = "info",
) -> None:
    """Run jobs until told to stop.

    Parameters
    ----------
    engine
        Where the engine is, as module:name, for example shop.jobs:engine.
    queue
        Serve this queue; may be said several times. Without it: the queues of the declared tasks.
    concurrency
        So many jobs at once.
    name
        Known by this name; without it host and process number.
    lease
        A worker silent for so long loses its jobs to others.
    grace
        So long may running jobs take to finish when stopping.
    schedules
        Fire due schedules as well.
    metrics_port
        Serve Prometheus metrics on this port of 127.0.0.1.
    log
        How log lines look: console or json. Without it console on a terminal, else json.
    log_level
        The least serious level that is logged: debug, info, warning or error.
    """
    log_to(sys.stderr, style=log, level=log_level)
    found = find_engine(engine)
    if not found.tasks:
        logging.getLogger("cadenza.cli").warning(
            "this engine declares no tasks: import the modules that do", extra={"engine": engine}
        )
    async with found:
        hired = found.worker(
            queue or queues_of(found),
            name=name,
            concurrency=concurrency,
            schedules=schedules,
            lease=lease,
            grace=grace.total_seconds(),
        )
        hired.stop_on_signals()
        if metrics_port is None:
            await hired.run()
            return
        from cadenza.cli.metrics import serving

        with serving(hired, found.store, metrics_port):
            await hired.run()


def find_engine(path: str) -> Engine:
    """Import the engine that `module:name` names; say what is wrong with the path otherwise."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise InvalidJob(f"{path!r} names no engine: write module:name, for example app:engine")
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
