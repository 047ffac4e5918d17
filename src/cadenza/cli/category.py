"""`cadenza category`: brands and categories, what their posts say, and the pool of media that rules pick from."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    at,
    find_named,
    opened_workspace,
    short,
)
from cadenza.cli.show import echo, print_facts, print_json, print_table

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Workspace

app = App(name="category", help="Look at categories, make and change them, fill their pools.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List the categories, brands first."""
    async with opened_workspace(options) as home:
        found = await home.categories.list()
    if options.json:
        print_json(found)
        return OK
    names = {each["id"]: each["name"] for each in found}
    print_table(
        ("name", "of", "hashtags", "copy", "id"),
        [
            (
                each["name"],
                names.get(each["parent_id"] or "", ""),
                " ".join(each["hashtags"]),
                short(each["copy"], 40),
                each["id"],
            )
            for each in found
        ],
        empty="There is no category yet: `cadenza category create NAME` makes one.",
    )
    return OK


@app.command
async def show(category: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a category and its pool, in the order in which it will be picked from.

    Parameters
    ----------
    category
        Its id or name.
    """
    async with opened_workspace(options) as home:
        found = await _find(home, category)
        pool = await home.categories.show_pool(found["id"])
    if options.json:
        print_json({**found, "pool": pool["assets"]})
        return OK
    facts: dict[str, Any] = {
        "id": found["id"],
        "name": found["name"],
        "hashtags": " ".join(found["hashtags"]),
        "copy": found["copy"],
    }
    print_facts({**facts, **{f"{{{{{name}}}}}": text for name, text in found["variables"].items()}})
    print_table(
        ("media", "used", "last"),
        [
            (each["media_id"], each["use_count"], at(each["last_used_at"]))
            for each in pool["assets"]
        ],
        empty="Its pool is empty: `cadenza category fill` puts media in.",
    )
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    copy: str = "",
    hashtag: Many = (),
    variable: Many = (),
    parent: str | None = None,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a category; without a parent it is a brand.

    For example: `cadenza category create Openings --copy "We open on {{weekday}}." --hashtag shop`.

    Parameters
    ----------
    name
        What it is called.
    copy
        What its posts say; {{weekday}}, {{date}} and variables of your own are filled in.
    hashtag
        On each of its posts; may be said several times.
    variable
        NAME=TEXT, for the copy; may be said several times.
    parent
        The brand that it belongs to, by id or name.
    dry_run
        Say what would be, and change nothing.
    """
    async with opened_workspace(options) as home:
        made = await home.categories.make(
            name=name,
            copy=copy,
            hashtags=list(hashtag),
            variables=_variables(variable),
            parent_id=None if parent is None else (await _find(home, parent))["id"],
            dry_run=dry_run,
        )
    return _print_outcome(made, json=options.json, done="would be made" if dry_run else "is made")


@app.command
async def edit(
    category: str,
    /,
    *,
    name: str | None = None,
    copy: str | None = None,
    hashtag: Many = (),
    variable: Many = (),
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Change what is given of a category.

    Parameters
    ----------
    category
        Its id or name.
    name
        What it is called now.
    copy
        What its posts say now.
    hashtag
        Instead of those it has; may be said several times.
    variable
        NAME=TEXT, beside those it has; may be said several times.
    dry_run
        Say what would be, and change nothing.
    """
    async with opened_workspace(options) as home:
        known = await _find(home, category)
        saved = await home.categories.change(
            known["id"],
            name=name or known["name"],
            copy=known["copy"] if copy is None else copy,
            hashtags=list(hashtag) or known["hashtags"],
            variables={**known["variables"], **_variables(variable)},
            parent_id=known["parent_id"],
            revision=known["revision"],
            dry_run=dry_run,
        )
    return _print_outcome(
        saved, json=options.json, done="would be saved" if dry_run else "is saved"
    )


@app.command
async def fill(
    category: str,
    /,
    *media: str,
    only: Yes = False,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Put media into the pool that rules pick pictures from.

    Parameters
    ----------
    category
        Its id or name.
    media
        Ids or names of files in the library.
    only
        Only these: what is in the pool now is taken out (the files stay in the library).
    dry_run
        Say what would be, and change nothing.
    """
    if not media and not only:
        raise UsageError("name media: cadenza category fill Openings shop.jpg")
    async with opened_workspace(options) as home:
        found = await _find(home, category)
        library = [each async for each in home.media.list()] if media else []
        wanted = [find_named(library, each, "media")["id"] for each in media]
        pool = await home.categories.show_pool(found["id"])
        there = [] if only else [each["media_id"] for each in pool["assets"]]
        ids = list(dict.fromkeys([*there, *wanted]))
        pool = await home.categories.fill_pool(found["id"], media_ids=ids, dry_run=dry_run)
    if options.json:
        print_json(pool)
    else:
        count = len(pool["assets"])
        echo(f"the pool of {found['name']} {'would hold' if dry_run else 'holds'} {count} files")
    return OK


@app.command
async def delete(
    category: str, /, *, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Delete a category that no rule uses; its media stay in the library.

    Parameters
    ----------
    category
        Its id or name.
    dry_run
        Say whether it could be, and change nothing.
    """
    async with opened_workspace(options) as home:
        found = await _find(home, category)
        gone = await home.categories.delete(found["id"], dry_run=dry_run)
    if options.json:
        print_json(gone)
    else:
        echo(f"{found['name']} {'would be' if dry_run else 'is'} deleted")
    return OK


async def _find(home: "Workspace", name: str) -> "types.CategoryView":
    return find_named(await home.categories.list(), name, "category")


def _variables(words: tuple[str, ...]) -> dict[str, str]:
    said = dict(each.split("=", 1) for each in words if "=" in each)
    if len(said) != len(words):
        raise UsageError("write each --variable as NAME=TEXT")
    return said


def _print_outcome(category: "types.CategoryView", *, json: bool, done: str) -> int:
    if json:
        print_json(category)
    else:
        echo(f"{category['name']} {done} ({category['id']})")
    return OK
