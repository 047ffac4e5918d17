"""`cadenza config`: what is set, from where, and what is missing for each network."""

from cyclopts import App

from cadenza.bootstrap.describe import described, readiness, warn
from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.settings import USUAL, ConfigOptions
from cadenza.cli.show import echo, print_json, print_table

app = App(name="config", help="See what is set, and what is missing.")


@app.command
async def check(*, chosen: ConfigOptions = USUAL) -> int:
    """Say what is set and from where, what each network lacks, and what to do about it."""
    settings = chosen.settings()
    rows, networks, warnings = described(settings), readiness(settings), warn(settings)
    if chosen.json:
        print_json(
            {
                "settings": [
                    {"key": key, "value": value, "from": origin} for key, value, origin in rows
                ],
                "networks": [
                    {"provider": n.provider, "ready": n.ready, "message": n.message}
                    for n in networks
                ],
                "warnings": warnings,
            }
        )
    else:
        print_table(("setting", "value", "from"), rows, empty="nothing is set")
        print_table(
            ("network", "", "what to do"),
            [(n.provider, "ready" if n.ready else "not yet", n.message) for n in networks],
            empty="there are no networks",
        )
        for warning in warnings:
            echo(f"warning: {warning}")
    return REFUSED if warnings else OK
