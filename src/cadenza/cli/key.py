"""`cadenza key`: API keys for programs and for this command line on another machine."""

from datetime import datetime
from typing import Annotated, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.numbers import SomeCount
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    find_accounts,
    opened_workspace,
)
from cadenza.cli.show import echo, print_json, print_table

app = App(name="key", help="Make, list and revoke API keys.")

Role = Literal["viewer", "editor", "admin"]
Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
USUAL_SCOPES = (
    "accounts:read",
    "deliveries:read",
    "events:read",
    "media:read",
    "media:write",
    "messages:send",
    "posts:read",
    "posts:write",
    "queue:read",
    "queue:write",
    "rules:read",
    "rules:write",
    "templates:read",
    "templates:write",
    "workspace:read",
)


@app.command
async def make(
    name: str,
    /,
    *,
    scope: Many = (),
    role: Role = "editor",
    account: Many = (),
    publish_per_day: SomeCount = None,
    until: datetime | None = None,
    quiet: Quiet = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a key; it is shown once. Only a person can: not over --server.

    For example: `cadenza key make ci --scope posts:write --scope queue:write --publish-per-day 10`.

    Parameters
    ----------
    name
        What it is for.
    scope
        What it may do, for example posts:publish; may be said several times. Without any: looking at
        everything, and writing posts, queues, rules and media; not approving, not sending at once.
    role
        What it may do at most, whatever its scopes say.
    account
        Only with this account; may be said several times.
    publish_per_day
        At most so many publishings a day.
    until
        It ends then, with an offset.
    quiet
        Print the key alone: `export CADENZA_KEY=$(cadenza key make laptop --quiet)`.
    """
    if until is not None and until.tzinfo is None:
        raise UsageError(f"write --until with an offset: {until.isoformat()}+01:00, or Z for UTC")
    async with opened_workspace(options) as home:
        accounts = await find_accounts(home, account)
        made = await home.keys.make(
            name=name,
            scopes=list(scope or USUAL_SCOPES),
            role=role,
            accounts=accounts,
            publish_per_day=publish_per_day,
            ends_at=until,
        )
        workspace = home.id
    if options.json:
        print_json({**made, "workspace_id": workspace})
        return OK
    if quiet:
        echo(made["key"])
        return OK
    echo("This key is shown once. For the command line on another machine:\n")
    echo("  export CADENZA_SERVER=https://…")
    echo(f"  export CADENZA_KEY={made['key']}\n")
    return OK


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List the keys, also those that ended."""
    async with opened_workspace(options) as home:
        found = await home.keys.list()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "role", "scopes", "last used", "ended", "id"),
        [
            (
                each["name"],
                each["role"],
                " ".join(each["scopes"]),
                at(each["last_used_at"]),
                at(each["revoked_at"] or each["ends_at"]),
                each["id"],
            )
            for each in found
        ],
        empty="There is no key yet: `cadenza key make NAME` makes one.",
    )
    return OK


@app.command
async def revoke(key: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """End a key at once."""
    async with opened_workspace(options) as home:
        answer = await home.keys.revoke(key)
    if options.json:
        print_json(answer)
    else:
        echo(f"key {key} is revoked")
    return OK
