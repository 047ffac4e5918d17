"""`cadenza limits`: do the limits hold, and can the ledger prove it?

`audit` replays the ledger and prints, per account and rule, the worst that was ever reached. A broken
rule or a counter that disagrees with the ledger is an error: the exit code is then 1.
"""

from cyclopts import App

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.connect import DEFAULT, HERE, Place, must_exist
from cadenza.cli.settings import USUAL
from cadenza.cli.show import as_data, print_json, print_table, say
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.audit_limits import Audit, Worst, audit_limits

app = App(name="limits", help="Look at what limits allowed, and prove that they held.")


@app.command
async def audit(*, place: Place = HERE) -> int:
    """Replay the ledger against every rule of every account.

    Without --store the database is the one of the settings.
    """
    address = place.store if place.store != DEFAULT else USUAL.settings().database_address
    must_exist(address)
    async with open_product(address, clock=SystemClock()) as operations:
        found = await operations.read(audit_limits)
    if place.json:
        print_json(
            {
                "clean": found.clean,
                "worst": [{**as_data(worst), "broken": worst.broken} for worst in found.worst],
                "drift": [as_data(drift) for drift in found.drift],
            }
        )
    else:
        _show(found)
    return OK if found.clean else REFUSED


def _show(found: Audit) -> None:
    print_table(
        ("account", "action", "limit", "worst reached", "when", ""),
        [
            (
                worst.scope,
                worst.action,
                _limit(worst),
                f"{worst.reached:g}",
                worst.at,
                "BROKEN" if worst.broken else "held",
            )
            for worst in found.worst
        ],
        empty="The ledger is empty: nothing was sent under a limit yet.",
    )
    for drift in found.drift:
        say(
            f"drift: {drift.scope} {drift.action} {drift.kind} {drift.period}: "
            f"the counter says {drift.counter}, the ledger {drift.ledger}"
        )
    say("every limit held, every counter agrees" if found.clean else "the limits did NOT hold")


def _limit(worst: Worst) -> str:
    return f"{worst.limit} s apart" if worst.kind == "gap" else f"{worst.limit} per {worst.kind}"
