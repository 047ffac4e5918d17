"""`cadenza explain`: why a delivery does not go now, when it may, who can change that, and what was said."""

from datetime import datetime
from typing import Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, at, opened_workspace
from cadenza.cli.show import echo, print_json, print_table

app = App(name="explain", help="Say why a delivery does not go now, and who can change that.")


@app.default
async def explain(
    delivery: str,
    /,
    *,
    time: Annotated[datetime | None, Parameter(name="--at")] = None,
    said: Annotated[bool, Parameter(negative=())] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Say why a delivery does not go, when it may, and who can change that.

    What is due later is judged at the instant it is due.

    Parameters
    ----------
    delivery
        The delivery's id, as `post show` and `queue show` print it.
    time
        Judge another instant instead, now or later, with an offset, for example 2026-12-24T18:00+01:00.
    said
        Show besides what was sent to the network for it and what came back, without secrets.
    """
    async with opened_workspace(options) as home:
        told = await home.deliveries.explain(delivery, at=time)
        shown = await home.deliveries.show(delivery)
        attempts = await home.deliveries.list_attempts(delivery)
        exchanges = await home.deliveries.list_exchanges(delivery) if said else []
    if options.json:
        more = {"exchanges": exchanges} if said else {}
        print_json({"delivery": shown, "explained": told, "attempts": attempts, **more})
        return OK
    echo(told["message"])
    if shown["state"] in ("draft", "scheduled"):
        echo(f"judged as of {at(told['judged_at'])}")
    if shown["state"] == "unconfirmed":
        look = f"cadenza decide {delivery} --fence {shown['fence']}"
        echo(f"look at the account, then: {look} --there, or --not-there to send it again")
    print_table(
        ("gate", "open", ""),
        [
            (name, "yes" if gate.get("passed", gate.get("open")) else "no", _detail(gate))
            for name, gate in told["gates"].items()
        ],
        empty="No gate is in its way.",
    )
    print_table(
        ("tried", "outcome", "message"),
        [(at(a["began_at"]), a["sentence"], a["message"] or a["url"]) for a in attempts],
        empty="Nothing was tried yet.",
    )
    for exchange in exchanges:
        _print_outcome(exchange)
    if said and not exchanges:
        echo("What was said is not kept, or no longer: it goes after thirty days.")
    return OK


def _print_outcome(exchange: Any) -> None:
    """Print one exchange as people read them: what was sent, then what came back."""
    echo("")
    echo(
        f"{exchange['step']}  {at(exchange['began_at'])}  {exchange['method']} {exchange['place']}"
    )
    for name, value in exchange["headers"].items():
        echo(f"> {name}: {value}")
    _lines(">", exchange["body"])
    status = "no answer" if exchange["status"] is None else str(exchange["status"])
    echo(f"< {status} after {exchange['seconds']:.1f} s")
    for name, value in exchange["reply_headers"].items():
        echo(f"< {name}: {value}")
    _lines("<", exchange["reply"])
    _lines("<", exchange["message"])


def _lines(mark: str, text: str | None) -> None:
    for line in (text or "").splitlines():
        echo(f"{mark} {line}")


def _detail(gate: dict[str, object]) -> str:
    said = str(gate.get("message", ""))
    own = ("passed", "open", "message")
    rest = {name: value for name, value in gate.items() if name not in own and value}
    return "; ".join([said, *(f"{name}: {value}" for name, value in rest.items())])
