"""`cadenza limits`: do the limits hold, and can the ledger prove it? And what all accounts may do together.

`audit` replays the ledger and prints, per account and rule, the worst that was ever reached. A broken
rule or a counter that disagrees with the ledger is an error: the exit code is then 1. `check` and `repair` are about
what is planned. `rate` shows or sets what all accounts of a network may do together: an operator's matter.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.account_limits import describe_limit, today_of
from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.numbers import Count, SomeCount
from cadenza.cli.open_jobs import (
    DEFAULT,
    HERE,
    HERE_ONLY,
    ServerOption,
    StoreOption,
    asks_server,
    must_exist,
)
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    find_account,
    opened_workspace,
)
from cadenza.cli.open_workspace import at as clock
from cadenza.cli.settings import USUAL
from cadenza.cli.show import as_data, echo, print_json, print_table
from cadenza.core.suggest import did_you_mean

app = App(name="limits", help="Look at what limits allowed, and prove that they held.")


@app.command
async def audit(
    *,
    whole: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    place: StoreOption = HERE,
    remote: ServerOption = HERE_ONLY,
) -> int:
    """Replay the ledger against every rule of every account.

    Without --store the database is the one of the settings. On a server it needs a key with the scope
    system:read, made by an owner of the installation.

    Parameters
    ----------
    whole
        Replay the whole ledger; else the worst of what is older is what a worker found in the night.
    """
    if asks_server(place, remote):
        found = await _ask(remote, whole=whole)
    else:
        found = await _look(place.store, whole=whole)
    if place.json:
        print_json(found)
    else:
        _show(found)
    return OK if found["clean"] else REFUSED


@app.command
async def rate(
    network: str | None = None,
    amount: Annotated[SomeCount, Parameter(show_default=False)] = None,
    /,
    *,
    per: Count = 1,
    off: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    place: StoreOption = HERE,
) -> int:
    """Show, set or take away how many calls all accounts of a network may begin together.

    It holds for every workspace, from the next permit on, beside the accounts' own limits: a network
    counts the calls of an app, whoever makes them.

    Parameters
    ----------
    network
        Its name, as in `cadenza account list`; without one, all rates are shown.
    amount
        How many calls may begin.
    per
        In how many seconds.
    off
        Take the rate away.
    """
    from cadenza.core.clock import SystemClock
    from cadenza.db.open import open_product
    from cadenza.deliveries import lease_rate
    from cadenza.providers.registry import all_providers

    known = sorted(all_providers())
    if network is not None and network not in known:
        guess = did_you_mean(network, known) or f" There are {', '.join(known)}."
        raise UsageError(f"there is no network {network!r}.{guess}")
    if off and (network is None or amount is not None):
        raise UsageError(
            "name a network and either an amount or --off: cadenza limits rate x --off"
        )
    address = place.store if place.store != DEFAULT else USUAL.settings().database_address
    must_exist(address)
    async with open_product(address, clock=SystemClock()) as operations:
        if network is not None and amount is not None:
            change = partial(
                lease_rate.set_provider_rate, provider=network, amount=amount, per_seconds=per
            )
            await operations.run(change, locks=lease_rate.locks_of(network))
        elif network is not None and off:
            drop = partial(lease_rate.drop_provider_rate, provider=network)
            await operations.run(drop, locks=lease_rate.locks_of(network))
        rates = await operations.read(lease_rate.list_provider_rates)
    if place.json:
        print_json({"rates": rates})
        return OK
    print_table(
        ("network", "all accounts together"),
        [(each["provider"], f"{each['amount']} in {each['per_seconds']} s") for each in rates],
        empty="No network has a rate of its own: only the accounts' limits hold.",
    )
    return OK


@app.command
async def show(account: str | None = None, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show the limits of one account, or of all, with what is used of them and what holds today.

    Parameters
    ----------
    account
        Its id, its handle, or its network; without one, all accounts.
    """
    async with opened_workspace(options) as home:
        accounts: Any = (
            await home.accounts.list() if account is None else [await find_account(home, account)]
        )
        found = [
            (each, await home.account_use.show_use(each["id"]))
            for each in accounts
            if each["state"] != "disabled"
        ]
    rows: list[dict[str, Any]] = [
        {"account_id": each["id"], "account": each["handle"] or each["id"], **line}
        for each, use in found
        for line in use["uses"]
    ]
    if options.json:
        print_json(rows)
        return OK
    print_table(
        ("account", "action", "limit", "used of it", "today"),
        [
            (
                *(row["account"], row["limit"]["action"], describe_limit(row["limit"])),
                *(row["used"], today_of(row)),
            )
            for row in rows
        ],
        empty="Nothing is limited but by the networks: `cadenza account limit` sets something.",
    )
    return OK


@app.command
async def external(
    account: str,
    action: Literal["email", "message", "connection_request", "inmail"] = "email",
    count: Count = 1,
    /,
    *,
    at: datetime | None = None,
    recipient: str | None = None,
    undo: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Record what an account sent elsewhere, by hand or by another program: it counts against its limits.

    For example: `cadenza limits external smtp email 3`.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    action
        What was sent.
    count
        How often.
    at
        When, with an offset; now if it is left out.
    recipient
        To whom: it counts in their limit of contacts too.
    undo
        Take a record back by its id.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        made: Any
        if undo is not None:
            made = await home.external_sends.take_back_external_sends(found["id"], undo)
        else:
            said: Any = {"at": at, "recipient": recipient}
            said = {name: value for name, value in said.items() if value is not None}
            made = await home.external_sends.record_external_sends(
                found["id"], action=action, count=count, **said
            )
    if options.json:
        print_json(made)
    elif undo is not None:
        echo(f"{made['count']} count no more")
    else:
        echo(f"{made['count']} recorded for {found['handle']}; --undo {made['id']} takes it back")
    return OK


@app.command
async def check(*, options: WorkspaceOptions = USUALLY) -> int:
    """Say whether what is planned keeps the limits; the exit code is 1 where it does not."""
    async with opened_workspace(options) as home:
        found: Any = await home.outreach.check_planned()
        accounts: Any = await home.accounts.list()
    if options.json:
        print_json(found)
        return REFUSED if found else OK
    names = {each["id"]: each["handle"] or each["id"] for each in accounts}
    print_table(
        ("day", "account", "action", "limit", "messages beyond it"),
        [
            (
                *(each["day"], names.get(each["account_id"]), each["action"]),
                *(each["limit"].replace("_", " "), each["messages"]),
            )
            for each in found
        ],
        empty="Everything that is planned keeps the limits.",
    )
    if found:
        echo("`cadenza limits repair --dry-run` shows new times for them.")
    return REFUSED if found else OK


@app.command
async def repair(
    *,
    dry_run: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Move what sequences planned beyond the limits to the next free times.

    Parameters
    ----------
    dry_run
        Show the moves, and change nothing.
    """
    async with opened_workspace(options) as home:
        made: Any = await home.outreach.repair_planned(dry_run=dry_run)
    if options.json:
        print_json(made)
        return OK
    print_table(
        ("delivery", "was", "now", "because of"),
        [
            (
                *(each["delivery_id"], clock(each["was_at"]), clock(each["now_at"])),
                each["limit"].replace("_", " "),
            )
            for each in made["moves"]
        ],
        empty="Everything that is planned keeps the limits.",
    )
    if made["moves"]:
        echo(f"{made['moved']} {'would be ' if dry_run else ''}moved")
    return OK


async def _ask(remote: ServerOption, *, whole: bool) -> Mapping[str, Any]:
    from cadenza.cli.open_workspace import WorkspaceOptions, reached_installation

    async with reached_installation(
        WorkspaceOptions(server=remote.server, key=remote.key)
    ) as client:
        return await client.system.audit_all_limits(whole=whole)


async def _look(store: str, *, whole: bool) -> Mapping[str, Any]:
    from cadenza.core.clock import SystemClock
    from cadenza.db.open import open_product
    from cadenza.deliveries.audit_limits import audit_limits

    address = store if store != DEFAULT else USUAL.settings().database_address
    must_exist(address)
    async with open_product(address, clock=SystemClock()) as operations:
        found = await operations.read(partial(audit_limits, whole=whole))
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
        echo(
            f"drift: {drift['scope']} {drift['action']} {drift['kind']} {drift['period']}: "
            f"the counter says {drift['counter']}, the ledger {drift['ledger']}"
        )
    echo("every limit held, every counter agrees" if found["clean"] else "the limits did NOT hold")


def _limit(worst: Mapping[str, Any]) -> str:
    kind = worst["kind"]
    return f"{worst['limit']} s apart" if kind == "gap" else f"{worst['limit']} per {kind}"
