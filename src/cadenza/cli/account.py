"""`cadenza account`: which accounts there are, connecting one, pausing it, and what limits it."""

import sys
from datetime import datetime
from typing import Annotated

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.reach import USUALLY, Reach, at, find_account, reached
from cadenza.cli.show import print_facts, print_json, print_table, say
from cadenza.client.errors import ClientError
from cadenza.client.workspace import Data
from cadenza.core.suggest import did_you_mean

app = App(name="account", help="Look at accounts, connect them, pause them, limit them.")


@app.command(name="list")
async def list_(*, reach: Reach = USUALLY) -> int:
    """List the accounts with their health."""
    async with reached(reach) as home:
        accounts = await home.accounts.list()
    if reach.json:
        print_json(accounts)
        return OK
    print_table(
        ("network", "account", "state", "zone", "id"),
        [
            (each["provider"], each["handle"], _state(each), each["zone"], each["id"])
            for each in accounts
        ],
        empty="No account is connected yet: `cadenza account connect NETWORK` connects one.",
    )
    return OK


@app.command
async def show(account: str, /, *, reach: Reach = USUALLY) -> int:
    """Show one account.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    """
    async with reached(reach) as home:
        found = await find_account(home, account)
    if reach.json:
        print_json(found)
    else:
        facts = {name: value for name, value in found.items() if name not in ("dry_run", "lane")}
        print_facts({**facts, "state": _state(found), "hours": None})
    return OK


@app.command
async def connect(
    provider: str | None = None,
    /,
    *,
    field: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    reach: Reach = USUALLY,
) -> int:
    """Connect an account; without a network, list what can be connected and what each asks for.

    Parameters
    ----------
    provider
        The network, for example mastodon.
    field
        What the network asks for, as name=value; may be said several times. What is missing is
        asked for on a terminal.
    """
    async with reached(reach) as home:
        networks = {each["provider"]: each for each in await home.accounts.networks()}
        if provider is None:
            return _list_networks(networks, json=reach.json)
        if provider not in networks:
            raise ClientError(
                f"there is no network {provider!r}.{did_you_mean(provider, networks)}"
            )
        answer = await home.accounts.connect(provider, _fields(networks[provider], field))
    if reach.json:
        print_json(answer)
    elif answer["redirect"]:
        say("Sign in on the network's own page; it sends you back to the web app:\n")
        say(f"  {answer['redirect']}")
    for each in () if reach.json else answer["accounts"]:
        say(f"connected {each['handle']} on {each['provider']} ({each['id']})")
    return OK


@app.command
async def check(*, reach: Reach = USUALLY) -> int:
    """Say what each account and each network still needs, and what to do about it."""
    from cadenza.cli.config import readiness
    from cadenza.cli.settings import Chosen

    async with reached(reach) as home:
        accounts = await home.accounts.list()
    sick = [each for each in accounts if each["state"] != "connected" or _held(each)]
    ready = [] if reach.server else readiness(Chosen(config=reach.config).settings())
    if reach.json:
        networks = [{"provider": r.provider, "ready": r.ready, "says": r.says} for r in ready]
        print_json({"accounts": sick, "networks": networks})
        return REFUSED if sick else OK
    print_table(
        ("account", "state", "what to do"),
        [(f"{each['provider']} {each['handle']}", _state(each), _advice(each)) for each in sick],
        empty=f"All {len(accounts)} accounts are well.",
    )
    print_table(
        ("network", "", "to connect one"),
        [(each.provider, "ready" if each.ready else "not yet", each.says) for each in ready],
        empty="What the networks need is set on the server: `cadenza config check` there.",
    )
    return REFUSED if sick else OK


@app.command
async def pause(
    account: str, /, *, reason: str, until: datetime | None = None, reach: Reach = USUALLY
) -> int:
    """Let nothing of an account be sent.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    reason
        Why; people see it.
    until
        It goes on by itself then, with an offset, for example 2026-12-24T18:00+01:00.
    """
    async with reached(reach) as home:
        found = await find_account(home, account)
        answer = await home.accounts.pause(found["id"], reason, until=until)
    if reach.json:
        print_json(answer)
    else:
        say(f"{found['handle']} is paused: {reason}")
    return OK


@app.command
async def resume(account: str, /, *, choice: str | None = None, reach: Reach = USUALLY) -> int:
    """Let an account send again.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    choice
        What becomes of what was held; asked for by the server where something was.
    """
    async with reached(reach) as home:
        found = await find_account(home, account)
        answer = await home.accounts.resume(found["id"], choice)
    if reach.json:
        print_json(answer)
    else:
        say(f"{found['handle']} sends again")
    return OK


@app.command
async def limits(account: str, /, *, reach: Reach = USUALLY) -> int:
    """Show what limits an account.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    """
    async with reached(reach) as home:
        found = await find_account(home, account)
        answer = await home.accounts.limits(found["id"])
    if reach.json:
        print_json(answer)
        return OK
    print_table(
        ("action", "limit"),
        [(each["action"], _limit(each)) for each in answer["limits"]],
        empty="Nothing limits it but the network itself.",
    )
    return OK


def _list_networks(networks: dict[str, Data], *, json: bool) -> int:
    if json:
        print_json(list(networks.values()))
        return OK
    print_table(
        ("network", "asks for"),
        [
            (name, ", ".join(f"{f['name']} ({f['label']})" for f in each["fields"]) or "a sign-in")
            for name, each in networks.items()
        ],
        empty="there are no networks",
    )
    say("Connect one: cadenza account connect NETWORK --field name=value …")
    return OK


def _fields(network: Data, given: tuple[str, ...]) -> dict[str, str]:
    """Read name=value pairs; ask for what is missing where somebody can answer."""
    said = dict(each.split("=", 1) for each in given if "=" in each)
    if len(said) != len(given):
        raise ClientError("write each --field as name=value")
    for field in network["fields"]:
        if field["name"] in said or not field["required"] or not sys.stdin.isatty():
            continue
        if field["hint"]:
            say(field["hint"])
        said[field["name"]] = _ask(f"{field['label']}: ", secret=field["secret"])
    return said


def _ask(words: str, *, secret: bool) -> str:
    import getpass

    return getpass.getpass(words) if secret else input(words)


def _held(account: Data) -> bool:
    return bool(account.get("lane") and account["lane"]["paused"])


def _state(account: Data) -> str:
    lane = account.get("lane") or {}
    if lane.get("paused"):
        until = f" until {at(lane['paused_until'])}" if lane["paused_until"] else ""
        return f"paused{until}: {lane['pause_reason']}"
    said = account["state"]
    return f"{said}: {account['state_reason']}" if account["state_reason"] else said


def _advice(account: Data) -> str:
    if _held(account) and account["state"] == "connected":
        return f"cadenza account resume {account['id']}"
    return f"connect it again: cadenza account connect {account['provider']}"


def _limit(limit: Data) -> str:
    if limit["kind"] == "gap":
        return f"at least {limit['amount']} s between two"
    if limit["kind"] == "rate":
        return f"{limit['amount']} in {limit['per_seconds']} s"
    return f"{limit['amount']} per {limit['kind'].replace('_', ' ')}"
