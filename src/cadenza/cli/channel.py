"""`cadenza channel`: chats and channels that broadcasts go to, with their health."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK
from cadenza.cli.contact import run_import
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, opened_workspace, short
from cadenza.cli.show import echo, print_json, print_table

app = App(name="channel", help="Keep recipient channels, see which fail, re-activate them.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(
    *, inactive: Yes = False, category: str | None = None, options: WorkspaceOptions = USUALLY
) -> int:
    """List recipient channels with their health.

    Parameters
    ----------
    inactive
        Only those that failed too often.
    category
        Only those of a category.
    """
    requested: dict[str, Any] = {"category": category} if category else {}
    if inactive:
        requested["active"] = False
    async with opened_workspace(options) as home:
        found: list[Any] = [
            each async for each in home.recipient_channels.list_channels(**requested)
        ]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("network", "address", "title", "category", "active", "failures", "last error"),
        [
            (
                *(each["provider"], each["address"], each["title"], each["category"]),
                "yes" if each["active"] else "no",
                *(each["error_count"], short(each["last_error"], 60)),
            )
            for each in found
        ],
        empty="There is no such channel: `cadenza channel add telegram @name` keeps one.",
    )
    return OK


@app.command
async def add(
    provider: str,
    address: str,
    /,
    *,
    title: str | None = None,
    category: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Keep a channel, or change its title and category.

    Parameters
    ----------
    provider
        Its network, such as telegram.
    address
        A username, a link or a chat id.
    title
        What it is called.
    category
        What it belongs to.
    """
    said = {"title": title, "category": category}
    body: Any = {name: value for name, value in said.items() if value}
    async with opened_workspace(options) as home:
        made: Any = await home.recipient_channels.save_channel(
            provider=provider, address=address, **body
        )
    if options.json:
        print_json(made)
    else:
        echo(f"{made['address']} is kept")
    return OK


@app.command
async def reactivate(provider: str, address: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let a channel be sent to again.

    Parameters
    ----------
    provider
        Its network.
    address
        Its username or chat id.
    """
    async with opened_workspace(options) as home:
        done: Any = await home.recipient_channels.reactivate_channel(
            provider=provider, address=address
        )
    if options.json:
        print_json(done)
    else:
        echo(f"{done['address']} is active")
    return OK


@app.command
async def delete(provider: str, address: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Delete a channel.

    Parameters
    ----------
    provider
        Its network.
    address
        Its username or chat id.
    """
    async with opened_workspace(options) as home:
        gone: Any = await home.recipient_channels.delete_channel(provider=provider, address=address)
    if options.json:
        print_json(gone)
    else:
        echo(f"{gone['id']} is deleted")
    return OK


@app.command(name="import")
async def import_(
    file: Path,
    /,
    *,
    column: Many = (),
    provider: str = "telegram",
    audience: str | None = None,
    dry_run: Yes = False,
    no_wait: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Import a CSV or XLSX file of channels, in the background.

    Parameters
    ----------
    file
        The file; its first row names the columns.
    column
        HEADER=OURS, where the guess is wrong; may be said several times.
    provider
        The network of rows that name none.
    audience
        The id of a list to put them on.
    dry_run
        Report on each row, and change nothing.
    no_wait
        Do not wait until it is done.
    """
    body: dict[str, Any] = {"provider": provider}
    if audience:
        body["audience_id"] = audience
    return await run_import(
        options, file, "channels", body, column=column, dry_run=dry_run, no_wait=no_wait
    )
