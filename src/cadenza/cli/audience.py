"""`cadenza audience`: lists of recipients and saved filters, and how two of them differ."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, find_named, opened_workspace
from cadenza.cli.show import echo, print_json, print_table, some

app = App(name="audience", help="Keep lists and saved filters of contacts and channels.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List audiences with their sizes."""
    async with opened_workspace(options) as home:
        found: Any = await home.audiences.list()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "kind", "size", "filter", "id"),
        [
            (each["name"], each["kind"], each["size"], _words(each["filter"]), each["id"])
            for each in found
        ],
        empty="There is no audience yet: `cadenza audience create NAME` makes one.",
    )
    return OK


@app.command
async def create(name: str, /, *, where: Many = (), options: WorkspaceOptions = USUALLY) -> int:
    """Make a list; with conditions, a saved filter.

    For example: `cadenza audience create "Customers" --where tag=customer --where consent=given`.

    Parameters
    ----------
    name
        What it is called.
    where
        A condition such as tag=customer, country!=DE, fields.age>=18 or company^=Eng (begins); may be
        said several times.
    """
    body: dict[str, Any] = {"name": name}
    if where:
        body["filter"] = [read_condition(each) for each in where]
    async with opened_workspace(options) as home:
        made: Any = await home.audiences.create(**body)
    if options.json:
        print_json(made)
    else:
        echo(f"{made['name']} is made, with {some(made['size'], 'member')}: {made['id']}")
    return OK


@app.command
async def change(
    audience: str,
    /,
    *,
    name: str | None = None,
    public_name: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Rename an audience, or let recipients see a list where they choose what they get.

    Parameters
    ----------
    audience
        Its id or name.
    name
        What it is called from now on.
    public_name
        What recipients call the list; "" hides it from them.
    """
    given = {"name": name, "public_name": public_name}
    body: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if not body:
        raise UsageError("say what to change: --name or --public-name")
    async with opened_workspace(options) as home:
        found = find_named(await home.audiences.list(), audience, "audience")
        changed: Any = await home.audiences.change(found["id"], **body)
    if options.json:
        print_json(changed)
    elif changed["public_name"]:
        echo(f"{changed['name']} is changed; recipients see it as {changed['public_name']}")
    else:
        echo(f"{changed['name']} is changed; recipients don't see it")
    return OK


@app.command
async def add(
    audience: str,
    /,
    *contacts: str,
    channel: Many = (),
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Put contacts and channels at the end of a list.

    Parameters
    ----------
    audience
        Its id or name.
    contacts
        Ids of contacts.
    channel
        PROVIDER=ADDRESS of a recipient channel; may be said several times.
    """
    return await _change("add_members", audience, contacts, channel, options)


@app.command
async def remove(
    audience: str,
    /,
    *contacts: str,
    channel: Many = (),
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Take contacts and channels off a list.

    Parameters
    ----------
    audience
        Its id or name.
    contacts
        Ids of contacts.
    channel
        PROVIDER=ADDRESS of a recipient channel; may be said several times.
    """
    return await _change("remove_members", audience, contacts, channel, options)


@app.command
async def diff(here: str, there: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Say how two audiences differ.

    Parameters
    ----------
    here
        The one, by id or name.
    there
        The other, by id or name.
    """
    async with opened_workspace(options) as home:
        known: Any = await home.audiences.list()
        one, other = (find_named(known, each, "audience") for each in (here, there))
        found: Any = await home.audiences.compare(one["id"], other["id"])
    if options.json:
        print_json(found)
    else:
        echo(f"only in {one['name']}: {found['only_here']}")
        echo(f"only in {other['name']}: {found['only_there']}")
        echo(f"in both: {found['both']}")
    return OK


@app.command
async def delete(audience: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Delete an audience; its contacts stay.

    Parameters
    ----------
    audience
        Its id or name.
    """
    async with opened_workspace(options) as home:
        found = find_named(await home.audiences.list(), audience, "audience")
        gone: Any = await home.audiences.delete(found["id"])
    if options.json:
        print_json(gone)
    else:
        echo(f"{found['name']} is deleted")
    return OK


async def _change(
    verb: str,
    audience: str,
    contacts: tuple[str, ...],
    channel: tuple[str, ...],
    options: WorkspaceOptions,
) -> int:
    channels: list[dict[str, str]] = []
    for each in channel:
        provider, sign, address = each.partition("=")
        if not sign:
            raise UsageError(f"{each!r} is no channel: write telegram=@bakers")
        channels.append({"provider": provider, "address": address})
    if not contacts and not channels:
        raise UsageError("name contacts by their ids, or channels: --channel telegram=@bakers")
    async with opened_workspace(options) as home:
        found = find_named(await home.audiences.list(), audience, "audience")
        act = getattr(home.audiences, verb)
        done: Any = await act(found["id"], contact_ids=list(contacts), channels=channels)
    if options.json:
        print_json(done)
        return OK
    echo(f"{some(done['changed'], 'change')}; {found['name']} has {some(done['size'], 'member')}")
    for each in done["unknown"]:
        echo(f"{each['id']} is not known")
    return OK


_SIGNS = {">=": "at_least", "<=": "at_most", "!=": "is_not", "^=": "begins", "=": "is"}


def read_condition(text: str) -> dict[str, str]:
    """Read a condition as people type it."""
    for sign, op in _SIGNS.items():
        what, found, value = text.partition(sign)
        if found and what and value:
            return {"what": what.strip(), "op": op, "value": value.strip()}
    raise UsageError(f"{text!r} is no condition: write tag=customer, country!=DE or fields.age>=18")


def _words(conditions: Any) -> str:
    return ", ".join(f"{each['what']} {each['op']} {each['value']}" for each in conditions)
