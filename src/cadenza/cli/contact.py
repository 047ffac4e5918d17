"""`cadenza contact`: people whom a workspace writes to; files of them go in and out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.files import save, sending
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    opened_workspace,
    short,
)
from cadenza.cli.show import echo, print_facts, print_json, print_table, some
from cadenza.client.errors import ClientError

if TYPE_CHECKING:
    from cadenza.client.core import Workspace

app = App(name="contact", help="Keep contacts, import files of them, export them.")
field_app = App(name="field", help="Fields of your own: text, number, date or a choice.")
app.command(field_app)

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]
SHOWN = 50
ENDED = ("tried", "done", "canceled", "failed", "undone", "uploaded")


@app.command(name="list")
async def list_(
    search: str = "",
    /,
    *,
    tag: str | None = None,
    channel: str | None = None,
    consent: Literal["given", "refused", "unknown"] | None = None,
    limit: int = SHOWN,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """List contacts, newest first.

    Parameters
    ----------
    search
        How names, companies or addresses begin; @example.org finds a domain.
    tag
        Only those with this tag.
    channel
        Only those who can be reached there: email, linkedin, telegram, ….
    consent
        Only those who said so.
    limit
        How many at most.
    """
    wanted: dict[str, Any] = {"search": search, "tag": tag, "channel": channel, "consent": consent}
    requested = {name: value for name, value in wanted.items() if value}
    found: list[Any] = []
    async with opened_workspace(options) as home:
        async for each in home.contacts.list(**requested):
            found.append(each)
            if len(found) >= limit:
                break
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "company", "address", "consent", "tags", "id"),
        [
            (
                each["name"],
                each["company"],
                each["addresses"][0]["written"] if each["addresses"] else "",
                each["consent"],
                ", ".join(each["tags"]),
                each["id"],
            )
            for each in found
        ],
        empty="There is no such contact: `cadenza contact import FILE` brings some.",
    )
    return OK


@app.command
async def show(contact: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a contact with its notes.

    Parameters
    ----------
    contact
        Its id.
    """
    async with opened_workspace(options) as home:
        found: Any = await home.contacts.show(contact)
        notes: Any = await home.contacts.list_notes(contact)
    if options.json:
        print_json({**found, "notes": notes})
        return OK
    _print_outcome(found)
    for note in notes:
        echo(f"{at(note['created_at'])} {note['written_by']}: {short(note['text'], 200)}")
    return OK


@app.command
async def add(
    *,
    email: Many = (),
    address: Many = (),
    first_name: str | None = None,
    last_name: str | None = None,
    company: str | None = None,
    country: str | None = None,
    tag: Many = (),
    field: Many = (),
    dry_run: Yes = False,
    quiet: Quiet = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a contact.

    For example: `cadenza contact add --email ada@example.org --first-name Ada --tag customer`.

    Parameters
    ----------
    email
        A mail address; may be said several times.
    address
        CHANNEL=ADDRESS, such as telegram=@ada; may be said several times.
    first_name
        First name.
    last_name
        Last name.
    company
        Company.
    country
        A code or an English name; the time zone is guessed from it.
    tag
        A tag; may be said several times.
    field
        KEY=VALUE of a field of your own; may be said several times.
    dry_run
        Say what would be, and change nothing.
    quiet
        Print its id alone, for other commands.
    """
    addresses = [{"channel": "email", "address": each} for each in email]
    for channel, text in _pairs(address, "--address telegram=@ada"):
        addresses.append({"channel": channel, "address": text})
    said: dict[str, Any] = {
        "first_name": first_name,
        "last_name": last_name,
        "company": company,
        "country": country,
        "addresses": addresses,
        "tags": list(tag),
        "fields": dict(_pairs(field, "--field age=36")),
    }
    body = {name: value for name, value in said.items() if value}
    async with opened_workspace(options) as home:
        made: Any = await home.contacts.create(**body, dry_run=dry_run)
    if quiet:
        echo(made["id"])
    elif options.json:
        print_json(made)
    else:
        echo(f"{made['name']} {'would be added' if dry_run else 'is added'}: {made['id']}")
    return OK


@app.command
async def delete(
    contact: str, /, *, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Delete a contact.

    Parameters
    ----------
    contact
        Its id.
    dry_run
        Say what would be, and change nothing.
    """
    async with opened_workspace(options) as home:
        gone: Any = await home.contacts.delete(contact, dry_run=dry_run)
    if options.json:
        print_json(gone)
    else:
        echo(f"{gone['id']} {'would be deleted' if dry_run else 'is deleted'}")
    return OK


@app.command
async def erase(
    contact: str, /, *, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Erase a person everywhere, for good: contact, messages, replies and what was told about them.

    Parameters
    ----------
    contact
        Its id.
    dry_run
        Say what would be, and change nothing.
    """
    async with opened_workspace(options) as home:
        gone: Any = await home.contacts.erase(contact, dry_run=dry_run)
    if options.json:
        print_json(gone)
    else:
        said = "would be erased" if dry_run else "is erased"
        echo(f"{gone['contact_id']} {said}, with {some(gone['deliveries'], 'message')}")
    return OK


@app.command
async def data(contact: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Print everything that is stored about a person, as JSON.

    Parameters
    ----------
    contact
        Its id.
    """
    async with opened_workspace(options) as home:
        print_json(await home.contacts.show_data(contact))
    return OK


@app.command
async def merge(
    keep: str, /, *others: str, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Merge contacts that are one person.

    Parameters
    ----------
    keep
        The id of the one that stays.
    others
        The ids of those that are merged into it.
    dry_run
        Show what the merged contact would be, and change nothing.
    """
    if not others:
        raise UsageError("name the others: cadenza contact merge KEEP OTHER")
    async with opened_workspace(options) as home:
        done: Any = await home.contacts.merge(keep, other_ids=list(others), dry_run=dry_run)
    if options.json:
        print_json(done)
        return OK
    _print_outcome(done["contact"])
    print_table(
        ("field", "kept", "dropped", "of"),
        [
            (each["field"], each["kept"], each["dropped"], each["contact_id"])
            for each in done["dropped"]
        ],
        empty="Nothing is lost.",
    )
    return OK


@app.command(name="import")
async def import_(
    file: Path,
    /,
    *,
    column: Many = (),
    existing: Literal["update", "fill", "skip"] = "update",
    audience: str | None = None,
    tag: Many = (),
    source: str | None = None,
    consent: Literal["given", "refused", "unknown"] | None = None,
    consent_proof: str | None = None,
    dry_run: Yes = False,
    no_wait: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Import a CSV or XLSX file of contacts, in the background.

    A worker does the work (`cadenza up` or `cadenza worker`). The same file again changes nothing.

    Parameters
    ----------
    file
        The file; its first row names the columns.
    column
        HEADER=OURS, where the guess is wrong: "Wohin=email"; may be said several times.
    existing
        Whom you know already: replace what the file says, fill gaps, or leave.
    audience
        The id of a list to put everybody on.
    tag
        A tag for everybody; may be said several times.
    source
        Where you have them from.
    consent
        What all of them said.
    consent_proof
        How you can prove it.
    dry_run
        Read the whole file and report on each row, and change nothing.
    no_wait
        Do not wait until it is done.
    """
    said: dict[str, Any] = {
        "existing": existing,
        "audience_id": audience,
        "tags": list(tag),
        "source": source,
        "consent": consent,
        "consent_proof": consent_proof,
    }
    body = {name: value for name, value in said.items() if value}
    return await run_import(
        options, file, "contacts", body, column=column, dry_run=dry_run, no_wait=no_wait
    )


async def run_import(
    options: WorkspaceOptions,
    file: Path,
    kind: str,
    body: dict[str, Any],
    *,
    column: tuple[str, ...],
    dry_run: bool,
    no_wait: bool,
) -> int:
    """Upload a file, start it, and wait for its end."""
    if not file.is_file():  # noqa: ASYNC240 - nothing else runs in a command
        raise ClientError(f"there is no file {file}")
    async with opened_workspace(options) as home:
        with sending(f"sending {file}") as told:
            there: Any = await home.contact_imports.upload_file(file, kind=kind, told=told)
        mapping = {**there["suggested"], **dict(_pairs(column, '--column "Mail=email"'))}
        act = home.contact_imports.try_import if dry_run else home.contact_imports.start_import
        there = await act(there["id"], mapping=mapping, **body)
        if not no_wait:
            there = await _wait(home, there["id"])
        rows: Any = await home.contact_imports.list_rows(there["id"], limit=20)
    if options.json:
        print_json({**there, "rows": rows["items"]})
    else:
        _tell_import(there, rows["items"])
    return REFUSED if there["state"] == "failed" else OK


@app.command
async def imports(*, options: WorkspaceOptions = USUALLY) -> int:
    """List imports and how far they are."""
    async with opened_workspace(options) as home:
        found: Any = await home.contact_imports.list_imports()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("file", "state", "done", "created", "updated", "refused", "requested", "id"),
        [
            (
                *(each["name"], each["state"], f"{each['percent']} %", each["created"]),
                *(each["updated"], each["refused"], at(each["asked_at"]), each["id"]),
            )
            for each in found
        ],
        empty="Nothing was imported yet.",
    )
    return OK


@app.command
async def undo(
    import_id: str, /, *, no_wait: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Take an import back, within a day; contacts that were changed since are left.

    Parameters
    ----------
    import_id
        The import's id: `cadenza contact imports` lists them.
    no_wait
        Do not wait until it is done.
    """
    async with opened_workspace(options) as home:
        there: Any = await home.contact_imports.undo_import(import_id)
        if not no_wait:
            there = await _wait(home, import_id)
    if options.json:
        print_json(there)
    else:
        echo(
            f"{there['state']}: {there['removed']} removed, {there['restored']} restored,"
            f" {there['kept']} changed since and kept"
        )
    return OK


@app.command
async def report(
    import_id: str, file: Path | None = None, /, *, options: WorkspaceOptions = USUALLY
) -> int:
    """Write the report of an import, row by row, as CSV.

    Parameters
    ----------
    import_id
        The import's id.
    file
        Where to; without it the standard output.
    """
    async with opened_workspace(options) as home:
        pieces = home.contact_imports.download_report(import_id)
        await save(pieces, file, "writing the report", json=options.json)
    return OK


@app.command
async def export(
    file: Path,
    /,
    *,
    audience: str | None = None,
    tag: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Write contacts into a new CSV or XLSX file; a worker does the work.

    Parameters
    ----------
    file
        Where to; its ending says how: .csv or .xlsx.
    audience
        Only the members of this audience, by its id.
    tag
        Only those with this tag.
    """
    ending = file.suffix.lower().removeprefix(".")
    if ending not in ("csv", "xlsx"):
        raise UsageError("name a file that ends in .csv or .xlsx")
    body: dict[str, Any] = {"format": ending}
    if audience:
        body["audience_id"] = audience
    elif tag:
        body["filter"] = [{"what": "tag", "value": tag}]
    async with opened_workspace(options) as home:
        there: Any = await home.contact_exports.begin_contact_export(**body)
        while there["state"] in ("waiting", "running"):
            await _pause()
            there = await home.contact_exports.show_contact_export(there["id"])
        if there["state"] != "ready":
            raise ClientError(f"the export failed: {there['reason']}")
        pieces = home.contact_exports.download_contact_export(there["id"])
        await save(pieces, file, "receiving", json=options.json)
    if not options.json:
        echo(some(there["rows_done"], "contact"))
    return OK


@field_app.command(name="list")
async def list_fields(*, options: WorkspaceOptions = USUALLY) -> int:
    """List fields of your own."""
    async with opened_workspace(options) as home:
        found: Any = await home.contact_fields.list_fields()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("key", "label", "kind", "choices"),
        [(each["key"], each["label"], each["kind"], ", ".join(each["choices"])) for each in found],
        empty="There is no field yet: `cadenza contact field save age --kind number`.",
    )
    return OK


@field_app.command(name="save")
async def save_field(
    key: str,
    /,
    *,
    kind: Literal["text", "number", "date", "choice"] = "text",
    label: str | None = None,
    choice: Many = (),
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a field, or change its label and choices.

    Parameters
    ----------
    key
        What templates and files name it by.
    kind
        What it holds.
    label
        What people read.
    choice
        What a choice may be; may be said several times.
    """
    async with opened_workspace(options) as home:
        made: Any = await home.contact_fields.save_field(
            key=key, label=label or key, kind=kind, choices=list(choice)
        )
    if options.json:
        print_json(made)
    else:
        echo(f"the field {made['key']} ({made['kind']}) is saved")
    return OK


async def _wait(home: "Workspace", import_id: str) -> Any:
    """Show how far an import is until it ends."""
    with sending("importing") as told:
        while True:
            there: Any = await home.contact_imports.show_import(import_id)
            told(there["percent"], 100)
            if there["state"] in ENDED:
                return there
            await _pause()


async def _pause() -> None:
    from cadenza.core.clock import SystemClock

    await SystemClock().sleep(0.3)


def _tell_import(there: Any, rows: Any) -> None:
    print_table(
        ("row", "verdict", "why", "column", "value"),
        [
            (each["row"], each["verdict"], each["message"] or "", each["column"], each["value"])
            for each in rows
        ],
        empty="Every row was created.",
    )
    if there["reported"] > len(rows):
        echo(f"… of {there['reported']} rows: `cadenza contact report {there['id']}` writes all")
    words = "would be" if there["state"] == "tried" else "are"
    echo(
        f"{there['state']}: {there['created']} {words} created, {there['updated']} updated,"
        f" {there['unchanged']} unchanged, {there['refused']} refused, {there['flagged']} flagged"
    )
    if there["reason"]:
        echo(there["reason"])
    echo(f"import {there['id']}")


def _print_outcome(found: Any) -> None:
    facts: dict[str, Any] = {
        name: found[name]
        for name in (
            *("id", "external_id", "first_name", "last_name", "company", "country", "zone"),
            *("language", "consent", "consent_proof", "source"),
        )
    }
    facts |= {f"{each['channel']} ": each["written"] for each in found["addresses"][:1]}
    facts |= {
        f"{each['channel']} {n}": each["written"]
        for n, each in enumerate(found["addresses"][1:], start=2)
    }
    facts |= dict(found["fields"])
    facts["tags"] = ", ".join(found["tags"])
    print_facts(facts)


def _pairs(said: tuple[str, ...], example: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for each in said:
        name, sign, value = each.rpartition("=") if "=" in each else (each, "", "")
        if not sign or not name:
            raise UsageError(f"{each!r} is no pair: write {example}")
        found.append((name.strip(), value.strip()))
    return found
