"""`cadenza explain`: why a delivery does not go now, when it may, and who can change that."""

from cyclopts import App

from cadenza.cli.codes import OK
from cadenza.cli.reach import USUALLY, Reach, at, reached
from cadenza.cli.show import print_json, print_table, say

app = App(name="explain", help="Say why a delivery does not go now, and who can change that.")


@app.default
async def explain(delivery: str, /, *, reach: Reach = USUALLY) -> int:
    """Say why a delivery does not go now, when it may, and who can change that.

    Parameters
    ----------
    delivery
        The delivery's id, as `post show` and `queue show` print it.
    """
    async with reached(reach) as home:
        told = await home.deliveries.explain(delivery)
        shown = await home.deliveries.show(delivery)
        attempts = await home.deliveries.attempts(delivery)
    if reach.json:
        print_json({"delivery": shown, "explained": told, "attempts": attempts})
        return OK
    say(told["says"])
    if shown["state"] == "unconfirmed":
        look = f"cadenza decide {delivery} --fence {shown['fence']}"
        say(f"look at the account, then: {look} --there, or --not-there to send it again")
    print_table(
        ("gate", "open", ""),
        [
            (name, "yes" if gate.get("passed", gate.get("open")) else "no", _detail(gate))
            for name, gate in told["gates"].items()
        ],
        empty="No gate is in its way.",
    )
    print_table(
        ("tried", "outcome", "says"),
        [(at(a["began_at"]), a["outcome"] or "under way", a["says"] or a["url"]) for a in attempts],
        empty="Nothing was tried yet.",
    )
    return OK


def _detail(gate: dict[str, object]) -> str:
    said = str(gate.get("says", ""))
    own = ("passed", "open", "says")
    rest = {name: value for name, value in gate.items() if name not in own and value}
    return "; ".join([said, *(f"{name}: {value}" for name, value in rest.items())])
