"""`cadenza limits`: do the limits hold, and can the ledger prove it?

`audit` replays the ledger and prints, per account and rule, the worst that was ever reached. A broken
rule or a counter that disagrees with the ledger is an error: the exit code is then 1.
"""

from collections.abc import Mapping
from typing import Any

from cyclopts import App

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.connect import DEFAULT, HERE, HERE_ONLY, Afar, Place, must_exist
from cadenza.cli.settings import USUAL
from cadenza.cli.show import as_data, print_json, print_table, say

app = App(name="limits", help="Look at what limits allowed, and prove that they held.")


@app.command
async def audit(*, place: Place = HERE, afar: Afar = HERE_ONLY) -> int:
    """Replay the ledger against every rule of every account.

    Without --store the database is the one of the settings. On a server it needs a key with the scope
    system:read, made by an owner of the installation.
    """
    found = await _ask(afar) if afar.server is not None else await _look(place.store)
    if place.json:
        print_json(found)
    else:
        _show(found)
    return OK if found["clean"] else REFUSED


async def _ask(afar: Afar) -> Mapping[str, Any]:
    from cadenza.cli.reach import Reach, reached_house

    async with reached_house(Reach(server=afar.server, key=afar.key)) as client:
        return await client.system.audit_all_limits()


async def _look(store: str) -> Mapping[str, Any]:
    from cadenza.core.clock import SystemClock
    from cadenza.db.open import open_product
    from cadenza.deliveries.audit_limits import audit_limits

    address = store if store != DEFAULT else USUAL.settings().database_address
    must_exist(address)
    async with open_product(address, clock=SystemClock()) as operations:
        found = await operations.read(audit_limits)
    return {
        "clean": found.clean,
        "worst": [{**as_data(worst), "broken": worst.broken} for worst in found.worst],
        "drift": [as_data(drift) for drift in found.drift],
    }


def _show(found: Mapping[str, Any]) -> None:
    print_table(
        ("account", "action", "limit", "worst reached", "when", ""),
        [
            (
                worst["scope"],
                worst["action"],
                _limit(worst),
                f"{worst['reached']:g}",
                worst["at"],
                "BROKEN" if worst["broken"] else "held",
            )
            for worst in found["worst"]
        ],
        empty="The ledger is empty: nothing was sent under a limit yet.",
    )
    for drift in found["drift"]:
        say(
            f"drift: {drift['scope']} {drift['action']} {drift['kind']} {drift['period']}: "
            f"the counter says {drift['counter']}, the ledger {drift['ledger']}"
        )
    say("every limit held, every counter agrees" if found["clean"] else "the limits did NOT hold")


def _limit(worst: Mapping[str, Any]) -> str:
    kind = worst["kind"]
    return f"{worst['limit']} s apart" if kind == "gap" else f"{worst['limit']} per {kind}"
