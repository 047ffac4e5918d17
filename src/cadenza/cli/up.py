"""`cadenza up`: everything in one process: the web app, the HTTP API and a worker, on SQLite.

`cadenza serve` is the same without the worker, for machines where workers run on their own. Settings come
from cadenza.toml and the environment; what is said here wins.
"""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.api.first_start import first_start_link
from cadenza.bootstrap.model import Runtime
from cadenza.cli.logs import LogStyle
from cadenza.cli.numbers import SomePort
from cadenza.cli.run_server import placed, run_server, start_logging
from cadenza.cli.settings import USUAL, ConfigOptions
from cadenza.cli.show import echo, print_json
from cadenza.providers.http.redact import redact

app = App(name="up", help="Start everything in one process: web app, API and worker.")
serve_app = App(name="serve", help="Serve the web app and the API; workers run on their own.")


@app.default
async def up(
    *,
    demo: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    host: str | None = None,
    port: SomePort = None,
    data: Path | None = None,
    log: Annotated[LogStyle | None, Parameter(env_var="CADENZA_LOG")] = None,
    log_level: str | None = None,
    chosen: ConfigOptions = USUAL,
) -> None:
    """Start the web app, the API and a worker in one process, until told to stop.

    Without any settings it makes the folder cadenza-data here, with everything in it.

    Parameters
    ----------
    demo
        Fill a world to try things out in, beside simulated networks: the same as `cadenza demo`.
    host
        Listen on this address (127.0.0.1).
    port
        Listen on this port (8400).
    data
        The folder for the database, keys and media (cadenza-data).
    log
        How log lines look: console or json. Without it console on a terminal, else json.
    log_level
        The least serious level that is logged: debug, info, warning (the default here) or error.
    """
    if demo:
        from cadenza.cli.demo import demo as run_demo

        await run_demo(host=host, port=port, data=data, log=log, log_level=log_level, chosen=chosen)
        return
    settings = placed(chosen.settings(), host=host, port=port, data=data)
    start_logging(settings, log, log_level)
    await run_server(settings, worker=True, greet=lambda runtime: greet(runtime, chosen))


@serve_app.default
async def serve(
    *,
    host: str | None = None,
    port: SomePort = None,
    log: Annotated[LogStyle | None, Parameter(env_var="CADENZA_LOG")] = None,
    log_level: str | None = None,
    chosen: ConfigOptions = USUAL,
) -> None:
    """Serve the web app and the API until told to stop. It sends nothing: run `cadenza worker` too.

    Parameters
    ----------
    host
        Listen on this address (127.0.0.1).
    port
        Listen on this port (8400).
    log
        How log lines look: console or json. Without it console on a terminal, else json.
    log_level
        The least serious level that is logged: debug, info, warning (the default here) or error.
    """
    settings = placed(chosen.settings(), host=host, port=port, data=None)
    start_logging(settings, log, log_level)
    await run_server(settings, worker=False, greet=lambda runtime: greet(runtime, chosen))


async def greet(runtime: Runtime, chosen: ConfigOptions) -> None:
    """Say where it is, and what to do first."""
    settings = runtime.settings
    link = await first_start_link(runtime)
    if chosen.json:
        print_json({"address": settings.home, "first_start": link})
        sys.stdout.flush()
        return
    echo(f"\n  Cadenza is at {settings.home}")
    echo(f"  It keeps everything in {redact(settings.database_address)}\n")
    if link is not None:
        echo("  No owner yet. Become the owner with this link (it works once):\n")
        echo(f"    {link}\n")
        echo("  Then connect an account, give it a weekly schedule, and add a post to its queue.")
        echo("  To look around first, with made-up people and networks: cadenza demo")
    echo("  Ctrl-C stops it: what is being sent is finished first.\n")
    sys.stdout.flush()
