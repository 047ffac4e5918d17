"""`cadenza person`: the first owner, who is there, inviting others, and links for new passwords.

The first owner and new passwords are for whoever can read the data folder, on the local database; keys
never may. Where no mail server is set, the links are printed to be handed on.
"""

import getpass
import sys
from datetime import datetime
from typing import Annotated, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, at, opened_workspace
from cadenza.cli.settings import USUAL, ConfigOptions, opened_database
from cadenza.cli.show import echo, print_json, print_table
from cadenza.client.errors import ClientError
from cadenza.people.change_password import make_reset, reset_link
from cadenza.people.model import Done
from cadenza.people.passwords import Passwords, judge
from cadenza.people.sign_up import LOCK, offer_first_start, sign_up_first_owner
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Tx

app = App(
    name="person", help="Make the first owner, invite others, hand out links for new passwords."
)

Role = Literal["viewer", "editor", "admin", "owner"]
Password = Annotated[str | None, Parameter(show_default=False)]


@app.command
async def create(
    email: str,
    name: str,
    /,
    *,
    workspace: str = "Home",
    zone: str = "UTC",
    password: Password = None,
    chosen: ConfigOptions = USUAL,
) -> int:
    """Make the first owner of an empty installation, and the workspace they start with.

    Others are invited: `cadenza person invite`, or in the web app.

    Parameters
    ----------
    email
        The address to sign in with.
    name
        What they are called.
    workspace
        What the workspace is called.
    zone
        The workspace's zone, for example Europe/Berlin.
    password
        Better leave it out: it is asked for, or read from the standard input.
    """
    words = _password(password, email, name)
    hashed = await Passwords().hash(words)
    token = draw_token()
    settings = chosen.settings()

    def operation(tx: Tx, now: datetime) -> object:
        offer_first_start(tx, now, token_hash=token.hash)
        return sign_up_first_owner(
            tx,
            now,
            start_hash=token.hash,
            email=email,
            name=name,
            password_hash=hashed,
            zone=zone,
            workspace=workspace,
            approval=settings.first_approval,
        )

    from cadenza.bootstrap.runtime import open_runtime

    async with open_runtime(settings) as runtime:
        made = await runtime.operations.run(operation, locks=[LOCK])
    if not isinstance(made, tuple):
        raise ClientError(getattr(made, "message", "this installation has an owner already"))
    if chosen.json:
        print_json({"person_id": made[0], "workspace_id": made[1]})
    else:
        echo(f"{name} owns this installation, and the workspace {workspace} ({made[1]})")
    return OK


@app.command
async def invite(
    email: str, /, *, role: Role = "editor", options: WorkspaceOptions = USUALLY
) -> int:
    """Invite somebody into the workspace; they choose their own password.

    With a mail server the link goes to their address; without one it is printed for you to hand on.

    Parameters
    ----------
    email
        Their address.
    role
        What they may do; at most what you may.
    """
    async with opened_workspace(options) as home:
        made = await home.people.invite(email=email, role=role)
    if options.json:
        print_json(made)
        return OK
    echo(f"{made['email']} is invited as {made['role']} until {at(made['ends_at'])}")
    if made["link"] is None:
        echo("the link is on its way by mail")
    else:
        echo("No mail server is set, so send them this link yourself. It works once:\n")
        echo(f"  {made['link']}\n")
    return OK


@app.command
async def reset(email: str, /, *, chosen: ConfigOptions = USUAL) -> int:
    """Print a link with which somebody chooses a new password: once, within an hour.

    Parameters
    ----------
    email
        The address that they sign in with.
    """
    token = draw_token()
    async with opened_database(chosen) as runtime:
        made = await runtime.operations.run(
            lambda tx, now: make_reset(
                tx, now, email=email, token_hash=token.hash, by="operator:command line"
            )
        )
    if not isinstance(made, Done):
        raise ClientError(f"there is nobody with the address {email} here: `cadenza person list`")
    link = reset_link(runtime.settings.home, token.text)
    if chosen.json:
        print_json({"person_id": made.id, "link": link})
        return OK
    echo("This link works once, within an hour. Hand it to them, and to nobody else:\n")
    echo(f"  {link}\n")
    return OK


@app.command(name="list")
async def list_(*, chosen: ConfigOptions = USUAL) -> int:
    """List the people of this installation."""
    async with opened_database(chosen) as runtime:
        rows = await runtime.operations.read(
            lambda tx, now: tx.all(
                "SELECT id, email, name, instance_owner FROM person ORDER BY created_at, id"
            )
        )
    if chosen.json:
        print_json([{**row, "instance_owner": bool(row["instance_owner"])} for row in rows])
        return OK
    print_table(
        ("name", "address", "", "id"),
        [
            (row["name"], row["email"], "owner" if row["instance_owner"] else "", row["id"])
            for row in rows
        ],
        empty="No owner yet: `cadenza person create EMAIL NAME` makes the first owner.",
    )
    return OK


def _password(given: str | None, email: str, name: str) -> str:
    if given is None and sys.stdin.isatty():
        given = getpass.getpass("A new password: ")
    words = given if given is not None else sys.stdin.readline().rstrip("\n")
    wrong = judge(words, email=email, name=name)
    if wrong is not None:
        raise ClientError(wrong)
    return words
