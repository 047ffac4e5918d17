"""`cadenza media`: the files that posts show: upload, look, describe, delete."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.files import save, sending
from cadenza.cli.numbers import Count
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

app = App(name="media", help="Upload the files that posts show, look at them, delete them.")

Kind = Literal["image", "gif", "video", "document"]


@app.command
async def upload(
    *files: Path,
    alt: str | None = None,
    category: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Take files into the library; the same content again is the same file.

    For example: `cadenza media upload shop.jpg --alt "A shop with a blue door"`.

    Parameters
    ----------
    files
        One or several.
    alt
        Describe the image (alt text).
    category
        Also put them into the pool of this category, for rules to pick from.
    """
    if not files:
        raise UsageError("name a file: cadenza media upload shop.jpg")
    done: list[types.MediaUploaded] = []
    async with opened_workspace(options) as home:
        pool = None if category is None else await _pool(home, category)
        for file in files:
            with sending(str(file)) as told:
                done.append(await home.media.upload(file, alt=alt, told=told))
            if not options.json:
                note = ", it was there already" if done[-1]["known"] else ""
                echo(f"{file}: {done[-1]['id']}{note}")
                for each in done[-1]["notes"]:
                    echo(f"  {each}")
        if pool is not None:
            id_, there = pool
            more = [each["id"] for each in done if each["id"] not in there]
            await home.categories.fill_pool(id_, media_ids=[*there, *more])
    if options.json:
        print_json(done)
    return OK


@app.command
async def fetch(url: str, /, *, alt: str = "", options: WorkspaceOptions = USUALLY) -> int:
    """Fetch a file from its address into the library, up to 50 MB.

    For example: `cadenza media fetch https://www.example.org/menu.pdf`.

    Parameters
    ----------
    url
        Where it is, on a public server.
    alt
        Describe the image (alt text).
    """
    async with opened_workspace(options) as home:
        done: Any = await home.media.fetch(url=url, alt=alt)
    if options.json:
        print_json(done)
    else:
        echo(f"{done['name']}: {done['id']}{', it was there already' if done['known'] else ''}")
    return OK


@app.command(name="list")
async def list_(
    *, kind: Kind | None = None, most: Count = 50, options: WorkspaceOptions = USUALLY
) -> int:
    """List the library, the newest first.

    Parameters
    ----------
    kind
        Only files of this kind.
    most
        At most so many.
    """
    async with opened_workspace(options) as home:
        found = [each async for each in home.media.list(kind=kind, most=most)]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "kind", "size", "alt", "added", "id"),
        [
            (
                each["name"],
                each["kind"],
                _size(each),
                short(each["alt"], 40),
                at(each["created_at"]),
                each["id"],
            )
            for each in found
        ],
        empty="The library is empty: `cadenza media upload FILE` puts something in.",
    )
    return OK


@app.command
async def show(media: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a file and the posts that show it.

    Parameters
    ----------
    media
        Its id or its name.
    """
    async with opened_workspace(options) as home:
        found = await home.media.show(await _find(home, media))
    if options.json:
        print_json(found)
        return OK
    facts: dict[str, Any] = {
        name: found.get(name) for name in ("id", "name", "kind", "mime", "alt")
    }
    print_facts({**facts, "size": _size(found), "added": at(found["created_at"])})
    print_table(
        ("shown by", "post"),
        [(short(each["title"]) or "–", each["id"]) for each in found["posts"]],
        empty="No post shows it.",
    )
    return OK


@app.command
async def describe(
    media: str, alt: str, /, *, name: str | None = None, options: WorkspaceOptions = USUALLY
) -> int:
    """Say what is to be seen, for those who cannot see it.

    Parameters
    ----------
    media
        Its id or its name.
    alt
        What is to be seen.
    name
        A new name for it.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, media)
        if name is None:
            saved = await home.media.describe(id_, alt=alt)
        else:
            saved = await home.media.describe(id_, alt=alt, name=name)
    if options.json:
        print_json(saved)
    else:
        echo(f"{saved['name']}: {saved['alt']}")
    return OK


@app.command
async def download(media: str, file: Path, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Write the original into a new file.

    Parameters
    ----------
    media
        Its id or its name.
    file
        Where to.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, media)
        await save(home.media.download(id_), file, str(file), json=options.json)
    return OK


@app.command
async def delete(
    media: str,
    /,
    *,
    dry_run: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Delete a file that no post shows any more.

    Parameters
    ----------
    media
        Its id or its name.
    dry_run
        Say whether it could be, and change nothing.
    """
    async with opened_workspace(options) as home:
        gone = await home.media.delete(await _find(home, media), dry_run=dry_run)
    if options.json:
        print_json(gone)
    else:
        echo(f"{media} {'would be' if dry_run else 'is'} deleted")
    return OK


async def _find(home: "Workspace", name: str) -> str:
    """Return the id of a file: as it was given, or of the only one of that name."""
    from cadenza.client.errors import NotFound

    try:
        return (await home.media.show(name))["id"]
    except NotFound:
        found = [each async for each in home.media.list()]
    return find_named(found, name, "media")["id"]


async def _pool(home: "Workspace", category: str) -> tuple[str, Sequence[str]]:
    id_ = find_named(await home.categories.list(), category, "category")["id"]
    return id_, [each["media_id"] for each in (await home.categories.show_pool(id_))["assets"]]


def _size(media: "types.MediaView | types.MediaDetailed") -> str:
    size = media["size"]
    amount = f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{size / 1000:.0f} kB"
    width, height = media["width"], media["height"]
    return amount if width is None else f"{amount}, {width}×{height}"
