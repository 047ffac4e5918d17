"""`cadenza demo`: a lively installation to look around in, with simulated networks in the same process.

Everything is in one folder of its own; the first start fills it, later ones go on from there, and
`--reset` starts over. The passwords are the same for everybody: it is for this machine alone.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.bootstrap import CannotStart, Runtime, open_runtime
from cadenza.cli.logs import LogStyle
from cadenza.cli.numbers import Port, SomePort
from cadenza.cli.run_server import placed, run_server, start_logging
from cadenza.cli.settings import USUAL, ConfigOptions
from cadenza.cli.show import echo, print_json, print_table
from cadenza.config.load import load
from cadenza.config.model import Settings
from cadenza.demo import script
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.fill import connect_places, fill
from cadenza.demo.step_clock import StepClock
from cadenza.providers.registry import all_providers
from cadenza.sql.migrate import SchemaMismatch

app = App(name="demo", help="Look around in a filled installation, with networks of its own.")

FOLDER = Path("cadenza-demo")
SIGN = "this-is-a-demo"  # a file in the folder: what is inside may be thrown away
ENV = "demo.env"  # beside it: makes commands in another terminal speak to the same networks
BEGUN, FILLED = "begun", "filled"


@app.default
async def demo(
    *,
    reset: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    host: str | None = None,
    port: SomePort = None,
    data: Path | None = None,
    networks_port: Port = 8500,
    log: Annotated[LogStyle | None, Parameter(env_var="CADENZA_LOG")] = None,
    log_level: str | None = None,
    chosen: ConfigOptions = USUAL,
) -> None:
    """Start everything with made-up people, accounts and posts, beside networks on this machine.

    Parameters
    ----------
    reset
        Throw the demo's folder away and start over.
    host
        Listen on this address (127.0.0.1). The passwords are known to everybody.
    port
        Listen on this port (8400).
    data
        The demo's folder (cadenza-demo).
    networks_port
        The port of the page that shows what arrives; the networks take those after it. One that is
        taken is replaced by a free one.
    log
        How log lines look: console or json. Without it console on a terminal, else json.
    log_level
        The least serious level that is logged: debug, info, warning (the default here) or error.
    """
    folder = data or FOLDER
    _make_room(folder, reset=reset)
    cast = await assemble(networks_port)
    try:
        environ = {**os.environ, **cast.environment()}
        loaded = load(chosen.config, environ=environ, providers=all_providers())
        settings = placed(loaded, host=host, port=port, data=folder)
        sign = folder / SIGN
        await _reset_other_version(settings, folder)
        if sign.read_text().strip() != FILLED:
            start_logging(settings, log, log_level or "error")  # what goes wrong here is played
            await _fill(settings, cast, quiet=chosen.json)
            sign.write_text(FILLED)
        words = [f"export CADENZA_DATA='{folder.resolve()}'", *cast.exports()]
        (folder / ENV).write_text("".join(f"{line}\n" for line in words))
        start_logging(settings, log, log_level)
        await run_server(
            settings,
            worker=True,
            prepare=lambda runtime: _come_back(runtime, cast),
            greet=lambda runtime: _greet(runtime, cast, chosen),
        )
    finally:
        await cast.simulator.close()


def _make_room(folder: Path, *, reset: bool) -> None:
    """Have a folder that is the demo's own; what is not the demo's is never touched."""
    sign = folder / SIGN
    there = folder.is_dir() and any(folder.iterdir())
    if there and not sign.is_file():
        raise CannotStart(
            f"{folder} holds something that is no demo: name another folder with --data"
        )
    if there and (reset or sign.read_text().strip() != FILLED):
        shutil.rmtree(folder)  # one that was not filled to the end is started over
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not sign.is_file():
        sign.write_text(BEGUN)


async def _reset_other_version(settings: Settings, folder: Path) -> None:
    """Begin again where another version of this program made the demo."""
    try:
        async with open_runtime(settings):
            pass
    except SchemaMismatch:
        _make_room(folder, reset=True)


async def _fill(settings: Settings, cast: Cast, *, quiet: bool) -> None:
    clock = StepClock()

    def tell(what: str) -> None:
        if not quiet:
            print(f"  making {what} …", file=sys.stderr)

    async with open_runtime(settings, clock=clock) as runtime:
        await fill(runtime, cast, clock, tell)


async def _come_back(runtime: Runtime, cast: Cast) -> None:
    """Give the accounts the tokens of this simulator: its networks know no others."""
    home = await runtime.operations.read(
        lambda tx, now: tx.value("SELECT id FROM workspace ORDER BY created_at LIMIT 1")
    )
    rows = await runtime.operations.read(
        lambda tx, now: tx.all(
            "SELECT provider, id FROM account WHERE workspace_id = :home ORDER BY created_at DESC",
            home=home,
        )
    )
    await connect_places(runtime, cast, home, {row["provider"]: row["id"] for row in rows})


async def _greet(runtime: Runtime, cast: Cast, chosen: ConfigOptions) -> None:
    address = runtime.settings.home
    people = [(p.name, p.role, p.email, p.password) for p in script.PEOPLE]
    if chosen.json:
        keys = ("name", "role", "email", "password")
        print_json(
            {
                "address": address,
                "simulator": cast.desk.url(),
                "networks": cast.endpoints(),
                "people": [dict(zip(keys, person, strict=True)) for person in people],
            }
        )
        sys.stdout.flush()
        return
    echo(f"\n  Cadenza's demo is at {address}")
    echo(f"  What arrives at the networks is shown at {cast.desk.url()}")
    echo("  with what to type to connect more accounts.\n")
    print_table(("sign in as", "who is", "with the address", "and the password"), people, empty="")
    echo("  Look at Activity for what was sent, what failed and what nobody can be sure of;")
    echo("  at a queue for the weeks ahead; at the drafts that wait for an approval.")
    folder = runtime.settings.data
    again = "cadenza demo --reset" + ("" if folder == FOLDER else f" --data {folder}")
    echo(f"  In another terminal: `source {folder / ENV}`, and `cadenza queue show mastodon`.")
    echo(f"  Everything is in {folder}; `{again}` starts over.")
    if runtime.settings.listen.host not in ("127.0.0.1", "localhost", "::1"):
        echo("  WARNING: others can reach this, and everybody knows these passwords.")
    echo("  Ctrl-C stops it.\n")
    sys.stdout.flush()
