"""`cadenza account`: which accounts there are, connecting one, checking, pausing and letting it go.

What limits an account, and its hours, are in `account_limits.py` and hang on the same group.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.account_limits import add_limits, limited
from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    find_account,
    opened_workspace,
)
from cadenza.cli.show import echo, echo_ids, plain, print_facts, print_json, print_table
from cadenza.client.errors import ClientError, NotFound, Problem
from cadenza.core.suggest import did_you_mean

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Workspace

app = App(name="account", help="Look at accounts, connect them, pause them, limit them.")
add_limits(app)


LOOK_EVERY = 1.0  # seconds, while a person is away at a network
NONE_YET = "No account is connected yet: `cadenza account connect NETWORK` connects one."


@app.command(name="list")
async def list_(*, quiet: Quiet = False, options: WorkspaceOptions = USUALLY) -> int:
    """List the accounts with their health.

    Parameters
    ----------
    quiet
        Print the ids alone, one a line, for other commands.
    """
    async with opened_workspace(options) as home:
        accounts = await home.accounts.list()
    if quiet:
        echo_ids(accounts)
        return OK
    if options.json:
        print_json(accounts)
        return OK
    print_table(
        ("network", "account", "state", "zone", "id"),
        [
            (each["provider"], each["handle"], _state(each), each["zone"], each["id"])
            for each in accounts
        ],
        empty=NONE_YET,
    )
    return OK


@app.command
async def show(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show one account.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
    if options.json:
        print_json(found)
    else:
        shown = {"state": _state(found), **limited(found), "connected": at(found["created_at"])}
        facts = ("id", "provider", "handle", "name", "kind", "zone")
        print_facts({**{name: found.get(name) for name in facts}, **shown})
    return OK


@app.command
async def connect(
    provider: str | None = None,
    /,
    *,
    field: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    again: str | None = None,
    wait: bool = True,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Connect an account; without a network, list what can be connected and what each asks for.

    For example: `cadenza account connect mastodon --field instance=https://mastodon.example`.

    Parameters
    ----------
    provider
        The network, for example mastodon.
    field
        What the network asks for, as name=value; may be said several times. What is missing is
        asked for on a terminal.
    again
        Connect this account again instead: its id, its handle, or its network.
    wait
        Where the network has a sign-in page: wait until you are back from there. With --json it does not wait.
    """
    async with opened_workspace(options) as home:
        networks = {each["provider"]: each for each in await home.connect.list_networks()}
        if provider is None:
            return _list_networks(networks, json=options.json)
        if provider not in networks:
            guess = did_you_mean(provider, networks) or f" There are {', '.join(networks)}."
            raise UsageError(f"there is no network {provider!r}.{guess}")
        if not networks[provider]["ready"]:
            raise ClientError(f"{provider} is not ready here: {networks[provider]['message']}")
        answer = await home.connect.begin(
            provider,
            fields=_fields(networks[provider], field),
            account_id=None if again is None else (await find_account(home, again))["id"],
        )
        answer = await _reply(home, answer)
        if options.json:
            print_json(answer)
            return OK
        accounts = answer["accounts"]
        if answer["redirect"]:
            echo("Sign in on the network's own page; it sends you back to the web app:\n")
            echo(f"  {answer['redirect']}\n")
            echo("Sign in to the web app as the same person, if it asks. If your browser cannot")
            echo("reach it, copy the address that it was sent to: cadenza account finish 'ADDRESS'")
            accounts = await _await_return(home, answer) if wait else []
    _print_connected(accounts)
    return OK


@app.command
async def finish(
    address: str, /, *, code: str | None = None, options: WorkspaceOptions = USUALLY
) -> int:
    """Finish connecting an account with the address that the network sent your browser to.

    Needed only where the browser cannot reach the web app. An address works once, for ten minutes.

    Parameters
    ----------
    address
        The whole address, as the browser shows it; or the state of a question that `connect --json` printed.
    code
        With a state: the answer to the question.
    """
    body = _read_return(address, code)
    own = options.workspace or body["state"].partition(".")[0]
    async with opened_workspace(replace(options, workspace=own)) as home:
        answer = await _reply(home, await home.connect.complete(**body))
    if options.json:
        print_json(answer)
    else:
        _print_connected(answer["accounts"])
    return OK


@app.command(name="import")
async def import_(
    file: Path,
    /,
    *,
    check_only: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    dry_run: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Connect many mailboxes from a CSV of SMTP and IMAP settings; each is signed in to first. Exit code 1: some failed.

    Columns: from_address, smtp_host and smtp_password; smtp_port, smtp_security, smtp_username, imap_host, imap_port,
    imap_security, imap_username, imap_password, from_name, reply_to, signature, bounce_domain where they differ from
    what is usual. The server's worker signs in; passwords are wiped once their row was tried.

    Parameters
    ----------
    file
        The file; UTF-8, with a header.
    check_only
        Sign in, and connect nothing.
    dry_run
        Only read the file and say what is wrong with it; nobody is called.
    """
    text = _read_text(file)
    async with opened_workspace(options) as home:
        there = await home.mailbox_imports.import_mailboxes(
            csv=text, check_only=check_only, dry_run=dry_run
        )
        while not dry_run and there["finished_at"] is None:
            await _sleep()
            there = await home.mailbox_imports.show_mailbox_import(there["id"])
    failed = any(each["state"] in ("failed", "refused") for each in there["rows"])
    if options.json:
        print_json(there)
        return REFUSED if failed else OK
    print_table(
        ("row", "address", "", "message"),
        [
            (each["number"], each["address"], each["state"], each["message"])
            for each in there["rows"]
        ],
        empty="The file holds no mailbox.",
    )
    if dry_run:
        echo("(a dry run: nothing was changed, and nobody was called)")
    return REFUSED if failed else OK


@app.command
async def check(*, options: WorkspaceOptions = USUALLY) -> int:
    """Say what each account and each network still needs, and what to do about it."""
    async with opened_workspace(options) as home:
        accounts = await home.accounts.list()
        networks = await home.connect.list_networks()
    sick = [each for each in accounts if each["state"] != "connected" or _held(each)]
    if options.json:
        ready = [
            {name: each[name] for name in ("provider", "ready", "message")} for each in networks
        ]
        print_json({"accounts": sick, "networks": ready})
        return REFUSED if sick else OK
    print_table(
        ("account", "state", "what to do"),
        [(f"{each['provider']} {each['handle']}", _state(each), _advice(each)) for each in sick],
        empty=f"All {len(accounts)} accounts are well." if accounts else NONE_YET,
    )
    print_table(
        ("network", "", "to connect one"),
        [(n["provider"], "ready" if n["ready"] else "not yet", n["message"]) for n in networks],
        empty="there are no networks",
    )
    return REFUSED if sick else OK


@app.command(name="check-domain")
async def check_domain(
    name: str, /, *, selector: str | None = None, options: WorkspaceOptions = USUALLY
) -> int:
    """Check whether mailbox providers will believe a sending domain: SPF, DKIM, DMARC. Exit code 1: they won't.

    For example: `cadenza account check-domain example.com --selector s1`.

    Parameters
    ----------
    name
        A domain, or an account whose mails are sent from it: its id, its handle, or its network.
    selector
        The DKIM selector: s= in the DKIM-Signature header of a mail that you sent. An account that signs here
        knows its own.
    """
    async with opened_workspace(options) as home:
        accounts = await home.accounts.list()
        known = {each[key] for each in accounts for key in ("id", "handle", "provider")}
        if "." in name and "@" not in name and name not in known:
            answer = await home.domain_check.show_domain_check(domain=name, selector=selector)
        else:
            found = await find_account(home, name)
            answer = await home.domain_check.show_domain_check(
                account_id=found["id"], selector=selector
            )
    if options.json:
        print_json(answer)
        return OK if answer["good"] else REFUSED
    print_table(
        ("", "check", "finding", "what to do"),
        [
            (each["level"], each["check"], each["message"], each["fix"])
            for each in answer["findings"]
        ],
        empty="Nothing was found.",
    )
    echo(f"{answer['domain']} is {'ready to send' if answer['good'] else 'not ready yet'}.")
    return OK if answer["good"] else REFUSED


@app.command
async def pause(
    account: str,
    /,
    *,
    reason: str,
    until: datetime | None = None,
    options: WorkspaceOptions = USUALLY,
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
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.accounts.pause(found["id"], reason=reason, until=until)
    if options.json:
        print_json(answer)
    else:
        echo(f"{found['handle']} is paused: {reason}")
    return OK


@app.command
async def resume(
    account: str,
    /,
    *,
    choice: Literal["shift", "send", "draft"] | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Let an account send again.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    choice
        What becomes of what came due meanwhile: shift moves all on to the next slots, send lets it go
        one after another, draft takes it back. Needed where something came due.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.accounts.resume(found["id"], choice=choice)
    if options.json:
        print_json(answer)
    else:
        echo(f"{found['handle']} sends again")
    return OK


@app.command
async def lift(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let a suspended account send again; what came back before no longer counts against it.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.accounts.lift(found["id"])
    if options.json:
        print_json(answer)
    else:
        echo(f"{found['handle']} sends again")
    return OK


@app.command
async def disconnect(
    account: str,
    /,
    *,
    yes: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Wipe an account's credentials and cancel what it had still to send; its history stays.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    yes
        Do it; without this, only say what would happen.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.accounts.disconnect(found["id"], dry_run=not yes)
    if options.json:
        print_json(answer)
        return OK
    if not yes:
        echo(f"{found['handle']} would be disconnected, and {answer['canceled']} posts canceled.")
        echo("Nothing was changed: say --yes to do it.")
        return OK
    echo(f"{found['handle']} is disconnected; {answer['canceled']} posts were canceled")
    return OK


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read as UTF-8: {error}") from error


def _read_return(address: str, code: str | None) -> dict[str, Any]:
    """Read what a network sent back from the address that it sent the browser to."""
    from urllib.parse import parse_qs, urlsplit

    if "?" not in address:
        if code is None:
            raise UsageError("give the whole address, from https:// to its end, in quotes")
        return {"state": address, "code": code}
    said = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    if "error" in said:
        raise ClientError(f"The network says: {said.get('error_description', said['error'])}")
    if "state" not in said or "code" not in said:
        raise UsageError("this address holds no code: copy the one that the network sent you to")
    return {name: said[name] for name in ("state", "code", "iss") if name in said}


async def _reply(home: "Workspace", answer: "types.Connection") -> "types.Connection":
    """Answer what the network asks for on the way, such as a code that it sent, until it asks no more."""
    while (question := answer["question"]) is not None:
        field = question["field"]
        print(plain(f"{question['message']} ({field['hint']})"), file=sys.stderr)
        said = ask_value(f"{field['label']}: ", secret=field["secret"])
        if not said.strip():
            raise UsageError(f"{field['label']} is needed: nothing was connected")
        try:
            answer = await home.connect.complete(state=question["state"], code=said)
        except Problem as refused:
            if refused.code != "network_refused" or not sys.stdin.isatty():
                raise
            print(plain(str(refused)), file=sys.stderr)
    return answer


async def _await_return(home: "Workspace", answer: "types.Connection") -> "list[types.Account]":
    """Wait until the person came back from the network, wherever their browser is."""
    assert answer["id"] is not None
    echo("\nWaiting for you to come back, ten minutes at most (Ctrl-C stops waiting) …")
    while True:
        try:
            found = await home.connect.show_begun(answer["id"])
        except NotFound:
            raise ClientError("you did not come back in time: start again") from None
        if found["state"] == "failed":
            raise ClientError(f"it failed: {found['reason']}")
        if found["state"] == "connected":
            return found["accounts"]
        await _sleep()


async def _sleep() -> None:
    from cadenza.core.clock import SystemClock

    await SystemClock().sleep(LOOK_EVERY)


def _print_connected(accounts: "Iterable[types.Account]") -> None:
    for each in accounts:
        echo(f"connected {each['handle']} on {each['provider']} ({each['id']})")
        if each["to_resume"]:
            echo(f"{_came_due(each)}: {_advice(each)} --choice shift (or send, or draft)")
        elif _held(each):
            echo(f"it is paused and sends nothing yet: {_advice(each)}")


def _list_networks(networks: "dict[str, types.Network]", *, json: bool) -> int:
    if json:
        print_json(list(networks.values()))
        return OK
    print_table(
        ("network", "", "asks for"),
        [
            (name, "ready" if each["ready"] else "not yet", _asks(each))
            for name, each in networks.items()
        ],
        empty="there are no networks",
    )
    echo("Connect one: cadenza account connect NETWORK --field name=value …")
    return OK


def _asks(network: "types.Network") -> str:
    if not network["ready"]:
        return network["message"]
    requested = ", ".join(f"{each['name']} ({each['label']})" for each in network["fields"])
    return requested or "a sign-in on its own page"


def _fields(network: "types.Network", given: tuple[str, ...]) -> dict[str, str]:
    """Read name=value pairs; ask for what is missing where somebody can answer."""
    said = dict(each.split("=", 1) for each in given if "=" in each)
    if len(said) != len(given):
        raise UsageError("write each --field as name=value")
    for field in network["fields"]:
        if field["name"] in said or not field["required"] or not sys.stdin.isatty():
            continue
        if field["hint"]:
            echo(field["hint"])
        said[field["name"]] = ask_value(f"{field['label']}: ", secret=field["secret"])
    return said


def ask_value(words: str, *, secret: bool) -> str:
    """Ask a person at a terminal, or read a line."""
    import getpass

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return getpass.getpass(words) if secret else input(words)


def _held(account: "types.Account") -> bool:
    paused = account["lane"] is not None and account["lane"]["paused"]
    return paused or account["to_resume"] > 0


def _came_due(account: "types.Account") -> str:
    posts = account["to_resume"]
    return f"{posts} post{'' if posts == 1 else 's'} came due while it was disconnected"


def _state(account: "types.Account") -> str:
    lane = account["lane"]
    if lane is not None and lane["paused"]:
        until = f" until {at(lane['paused_until'])}" if lane["paused_until"] else ""
        return f"paused{until}: {lane['pause_reason']}"
    if account["to_resume"]:
        return f"{account['state']}: {_came_due(account)}"
    said = account["state"]
    return f"{said}: {account['state_reason']}" if account["state_reason"] else said


def _advice(account: "types.Account") -> str:
    if _held(account) and account["state"] == "connected":
        return f"cadenza account resume {account['id']}"
    if account["state"] == "suspended":
        return f"find out why, then: cadenza account lift {account['id']}"
    return f"connect it again: cadenza account connect {account['provider']}"
