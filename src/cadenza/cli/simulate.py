"""`cadenza simulate`: every network on this machine, to try the product without touching a real one.

It opens a local server for each network, prints the settings that make Cadenza speak to them, and a page
that shows what arrives, until it is stopped. Faults are planned by `--fault` or by a POST to the desk.
"""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.cli.codes import UsageError
from cadenza.cli.numbers import Port
from cadenza.cli.show import echo, print_json, print_table
from cadenza.client.errors import ClientError
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.dashboard import BadFault
from cadenza.demo.simulator.faults import Kind

app = App(name="simulate", help="Open every network on this machine, to try things out.")


@app.default
async def simulate(
    *,
    port: Port = 8500,
    fault: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    env: Path | None = None,
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> None:
    """Open every network on this machine until told to stop.

    Parameters
    ----------
    port
        The desk's port; the networks take the ports after it. One that is taken is replaced by a free one;
        0 takes any that are free.
    fault
        Plan a fault, as network:kind or network:kind:route, for example mastodon:silence_after.
        May be said several times; each is met once.
    env
        Write the settings that make Cadenza speak to these networks into this file, for `source FILE`.
    json
        Print JSON, for programs.
    """
    cast = await assemble(port)
    try:
        for each in fault:
            _plan(cast, each)
        told = _listen_for_signals()
        if env is not None:
            _write(env, cast)
        _print_outcome(cast, env, json=json)
        await told.wait()
    finally:
        await cast.simulator.close()


def _write(env: Path, cast: Cast) -> None:
    try:
        env.write_text("".join(f"{line}\n" for line in cast.exports()))
    except OSError as error:
        raise ClientError(f"{env} cannot be written: {error.strerror}") from error


def _plan(cast: Cast, words: str) -> None:
    network, _, rest = words.partition(":")
    kind, _, route = rest.partition(":")
    if not kind:
        raise UsageError(
            f"--fault {words} says no fault: write network:kind, one of {', '.join(Kind)}"
        )
    try:
        cast.desk.plan(network, kind, **({"route": route} if route else {}))
    except BadFault as error:
        raise UsageError(f"--fault {words}: {error}") from error


def _print_outcome(cast: Cast, env: Path | None, *, json: bool) -> None:
    if json:
        print_json(
            {
                "desk": cast.desk.url(),
                "environment": cast.environment(),
                "networks": cast.endpoints(),
            }
        )
        return
    echo(f"What arrives is shown at {cast.desk.url()}")
    print_table(
        ("network", "address", "to connect Ada's account, type"),
        [
            (
                name,
                role.address,
                "\n".join(f"{key}: {value}" for key, value in role.typed.items())
                or "sign in there",
            )
            for name, role in cast.roles.items()
        ],
        empty="there are no networks",
    )
    if env is not None:
        echo(f"In another terminal: source {env}, then start Cadenza there.")
    else:
        echo("Start Cadenza with these settings in another terminal (or see --env):\n")
        for line in cast.exports():
            echo(line)
    echo("\nCtrl-C stops the simulator.")
    sys.stdout.flush()


def _listen_for_signals() -> asyncio.Event:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    return told
