"""`cadenza workspace`: which there are, what is set in one, and the switch that stops everything in it."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.numbers import SomeCount
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    opened_workspace,
    reached_installation,
)
from cadenza.cli.show import echo, echo_ids, print_facts, print_json, print_table

if TYPE_CHECKING:
    from cadenza.client import types

app = App(
    name="workspace", help="Look at workspaces, make and change them, stop and start sending."
)

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(*, quiet: Quiet = False, options: WorkspaceOptions = USUALLY) -> int:
    """List the workspaces that one is in; a key is in one.

    Parameters
    ----------
    quiet
        Print the ids alone, one a line, for other commands.
    """
    if options.server:
        async with opened_workspace(options) as home:
            found = [await home.itself.show()]
    else:
        async with reached_installation(options) as client:
            found = list(await client.workspaces.list_own())
    if quiet:
        echo_ids(found)
        return OK
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "zone", "approval", "sending", "id"),
        [(w["name"], w["zone"], w["approval"], _sending(w), w["id"]) for w in found],
        empty="There is no workspace yet: `cadenza person create` makes the first.",
    )
    return OK


@app.command
async def create(name: str, /, *, zone: str = "UTC", options: WorkspaceOptions = USUALLY) -> int:
    """Make another workspace and own it; `--workspace NAME` then says which one a command is about.

    For example: `cadenza workspace create "Second brand" --zone Europe/Berlin`.

    Parameters
    ----------
    name
        What it is called.
    zone
        Its zone, where nothing nearer says another.
    """
    async with reached_installation(options) as client:
        made = await client.workspaces.create(name=name, zone=zone)
    return _print_outcome(made, json=options.json)


@app.command
async def show(*, options: WorkspaceOptions = USUALLY) -> int:
    """Show what is set in a workspace."""
    async with opened_workspace(options) as home:
        found = await home.itself.show()
    return _print_outcome(found, json=options.json)


@app.command(name="set")
async def set_(
    *,
    name: str | None = None,
    zone: str | None = None,
    approval: Literal["author", "required"] | None = None,
    max_per_day: SomeCount = None,
    hashtag: Many = (),
    postal_address: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Change what is given of a workspace.

    For example: `cadenza workspace set --approval required --zone Europe/Berlin`.

    Parameters
    ----------
    name
        What it is called.
    zone
        Its zone, where nothing nearer says another.
    approval
        author: what an editor saves is approved by that; required: somebody has to approve it.
    max_per_day
        Posts a day of an account that names no number of its own.
    hashtag
        On every post, instead of those that are set; may be said several times.
    postal_address
        What mails to many show: who writes from where.
    dry_run
        Say what would be, and change nothing.
    """
    said: dict[str, Any] = {
        "name": name,
        "zone": zone,
        "approval": approval,
        "max_per_day": max_per_day,
        "hashtags": list(hashtag) or None,
        "postal_address": postal_address,
    }
    changes: Any = {key: value for key, value in said.items() if value is not None}
    if not changes:
        raise UsageError("say what to change: --name, --zone, --approval, … (see --help)")
    async with opened_workspace(options) as home:
        saved = await home.itself.change(dry_run=dry_run, **changes)
    return _print_outcome(saved, json=options.json)


@app.command
async def stop(*, reason: str, options: WorkspaceOptions = USUALLY) -> int:
    """Let nothing leave the workspace from now on; what is in a call right now may still arrive.

    Parameters
    ----------
    reason
        Why; everybody sees it.
    """
    async with opened_workspace(options) as home:
        saved = await home.itself.stop(reason=reason)
    return _print_outcome(saved, json=options.json)


@app.command
async def start(
    *, choice: Literal["shift", "send", "draft"] = "shift", options: WorkspaceOptions = USUALLY
) -> int:
    """Let things leave again.

    Parameters
    ----------
    choice
        What becomes of what came due meanwhile: shift moves all on, send lets it go one after another,
        draft takes it back.
    """
    async with opened_workspace(options) as home:
        saved = await home.itself.start(choice=choice)
    return _print_outcome(saved, json=options.json)


def _sending(workspace: "types.Workspace") -> str:
    if workspace["stopped_at"] is None:
        return "allowed"
    return f"stopped since {at(workspace['stopped_at'])}: {workspace['stop_reason']}"


def _print_outcome(workspace: "types.Workspace", *, json: bool) -> int:
    if json:
        print_json(workspace)
        return OK
    shown = ("id", "name", "zone", "approval", "max_per_day")
    facts: dict[str, Any] = {name: workspace.get(name) for name in shown}
    facts |= {"hashtags": " ".join(workspace["hashtags"]), "sending": _sending(workspace)}
    print_facts(facts)
    for each in workspace.get("moved", ()):
        echo(f"moves from {at(each['was_at'])} to {at(each['now_at'])}: post {each['post_id']}")
    if workspace["dry_run"]:
        echo("(a dry run: nothing was changed)")
    return OK
