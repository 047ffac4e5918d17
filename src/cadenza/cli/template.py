"""`cadenza template`: text with variables, saved as versions, previewed, checked, and tried on yourself."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    at,
    find_account,
    find_named,
    opened_workspace,
)
from cadenza.cli.show import echo, print_facts, print_json, print_table
from cadenza.client.errors import ClientError

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Workspace

app = App(name="template", help="Write templates, preview and check them, try them on yourself.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]
BodyFormat = Literal["text", "markdown", "html"]
ChannelName = Literal[
    "email",
    "telegram",
    "linkedin_message",
    "linkedin_invitation",
    "linkedin_inmail",
    "slack",
    "discord",
    "webhook",
]
ENDINGS: dict[str, BodyFormat] = {".md": "markdown", ".html": "html", ".htm": "html"}


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List the templates, those saved last first."""
    async with opened_workspace(options) as home:
        found = [each async for each in home.templates.list()]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "version", "variables", "saved", "id"),
        [
            (
                each["name"],
                each["version"]["number"],
                " ".join(v["name"] for v in each["version"]["variables"]),
                at(each["updated_at"]),
                each["id"],
            )
            for each in found
        ],
        empty="There is no template yet: `cadenza template create NAME --body …` makes one.",
    )
    return OK


@app.command
async def show(template: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a template as its author wrote it.

    Parameters
    ----------
    template
        Its id or name.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
    if options.json:
        print_json(found)
        return OK
    version, content = found["version"], found["version"]["content"]
    needed = [f"{v['name']}{'' if v['required'] else ' (optional)'}" for v in version["variables"]]
    print_facts(
        {
            "id": found["id"],
            "name": found["name"],
            "version": version["number"],
            "saved": at(version["saved_at"]),
            "variables": ", ".join(needed),
            "format": content["format"],
            "subject": content["subject"],
            "variants": ", ".join(content["variants"]),
            "taken out": ", ".join(version["removed"]),
        }
    )
    echo("")
    echo(content["body"])
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    body: str | None = None,
    file: Path | None = None,
    subject: str = "",
    format: BodyFormat | None = None,  # noqa: A002 - as the API calls it
    media: Many = (),
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a template.

    For example: `cadenza template create Welcome --subject "Hello {{first_name}}" --file welcome.md`.

    Parameters
    ----------
    name
        What it is called.
    body
        Its text; `{{first_name}}` is filled in for each recipient.
    file
        Where its text is instead: `.md` is Markdown, `.html` is HTML, `-` is the standard input.
    subject
        The subject of a mail.
    format
        How the text is written; text without it, or what the file's name says.
    media
        Ids or names of files in the library that go along; may be said several times.
    dry_run
        Say what would be, and change nothing.
    """
    text, written = _body(body, file, format)
    async with opened_workspace(options) as home:
        made = await home.templates.make(
            name=name,
            body=text,
            subject=subject,
            format=written,
            media=await _media(home, media),
            dry_run=dry_run,
        )
    return _print_outcome(made, json=options.json, done="would be made" if dry_run else "is made")


@app.command
async def edit(
    template: str,
    /,
    *,
    name: str | None = None,
    body: str | None = None,
    file: Path | None = None,
    subject: str | None = None,
    format: BodyFormat | None = None,  # noqa: A002 - as the API calls it
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Save the next version of a template; what is not given stays.

    Parameters
    ----------
    template
        Its id or name.
    name
        What it is called now.
    body
        Its new text.
    file
        Where its new text is instead; `-` is the standard input.
    subject
        Its new subject.
    format
        How the text is written.
    dry_run
        Say what would be, and change nothing.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
        old: Any = found["version"]["content"]
        text, written = old["body"], format or old["format"]
        if body is not None or file is not None:
            text, written = _body(body, file, format or (None if file else old["format"]))
        saved = await home.templates.save(
            found["id"],
            name=name or found["name"],
            body=text,
            subject=old["subject"] if subject is None else subject,
            format=written,
            css=old["css"],
            text=old["text"],
            media=old["media"],
            variants=old["variants"],
            version=found["version"]["number"],
            dry_run=dry_run,
        )
    return _print_outcome(
        saved, json=options.json, done="would be saved" if dry_run else "is saved"
    )


@app.command
async def preview(
    template: str,
    /,
    *,
    contact: str | None = None,
    variable: Many = (),
    channel: ChannelName = "email",
    html: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Show a template as a recipient would get it.

    Parameters
    ----------
    template
        Its id or name.
    contact
        The id of a contact whose fields fill the variables.
    variable
        NAME=TEXT; may be said several times. Without any, and without a contact, examples are made up.
    channel
        For which channel.
    html
        Print the HTML of a mail alone.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
        made = await home.templates.preview(
            found["id"],
            channel=channel,
            contact_id=contact,
            variables=values_of(variable) if variable else None,
        )
    if options.json:
        print_json(made)
    elif not made["complete"]:
        unfit = [f"{name}: {why}" for name, why in made["unfit"].items()]
        missing = [f"missing: {', '.join(made['missing'])}"] if made["missing"] else []
        raise ClientError("; ".join([*missing, *unfit]))
    elif html:
        echo(made["html"] or "")
    else:
        files = ", ".join(f"{each['name']} ({each['kind']})" for each in made["media"])
        print_facts({"subject": made["subject"], "files": files})
        echo("")
        echo(made["text"])
    return OK


@app.command
async def check(
    template: str,
    /,
    *,
    account: str | None = None,
    channel: ChannelName = "email",
    try_links: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Check a template's links, size and variables; leaves with 1 if it cannot go out.

    Parameters
    ----------
    template
        Its id or name.
    account
        Whose network is asked what it takes.
    channel
        For which channel.
    try_links
        Ask whether each link answers.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
        account_id = None if account is None else (await find_account(home, account))["id"]
        said = await home.templates.check(
            found["id"], channel=channel, account_id=account_id, try_links=try_links
        )
    if options.json:
        print_json(said)
    else:
        print_table(
            ("", "field", "finding"),
            [
                ("!" if each["blocking"] else "", each["field"], each["message"])
                for each in said["findings"]
            ],
            empty=f"{found['name']}: nothing is wrong",
        )
    return OK if said["ready"] else REFUSED


@app.command(name="test")
async def send_test(
    template: str,
    /,
    *,
    account: str,
    contact: str | None = None,
    variable: Many = (),
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Send a template to yourself, by a mail account, under its limits.

    Parameters
    ----------
    template
        Its id or name.
    account
        The mail account that sends it.
    contact
        The id of a contact whose fields fill the variables.
    variable
        NAME=TEXT; may be said several times. Without any, and without a contact, examples are made up.
    dry_run
        Say whether it could be sent, and send nothing.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
        sent = await home.templates.send_test(
            found["id"],
            account_id=(await find_account(home, account))["id"],
            contact_id=contact,
            variables=values_of(variable) if variable else None,
            dry_run=dry_run,
        )
    return tell_message(sent, json=options.json)


@app.command
async def delete(
    template: str, /, *, dry_run: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Delete a template; what was planned with it is still sent.

    Parameters
    ----------
    template
        Its id or name.
    dry_run
        Say whether it could be, and change nothing.
    """
    async with opened_workspace(options) as home:
        found = await find_template(home, template)
        gone = await home.templates.delete(found["id"], dry_run=dry_run)
    if options.json:
        print_json(gone)
    else:
        echo(f"{found['name']} {'would be' if dry_run else 'is'} deleted")
    return OK


async def find_template(home: "Workspace", name: str) -> "types.TemplateView":
    """Return the template that an id or a name names."""
    return find_named([each async for each in home.templates.list()], name, "template")


def values_of(words: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=TEXT words."""
    said = dict(each.split("=", 1) for each in words if "=" in each)
    if len(said) != len(words):
        raise UsageError("write each --variable as NAME=TEXT")
    return said


def tell_message(sent: "types.MessageView", *, json: bool) -> int:
    """Say what became of a message that was handed over."""
    if json:
        print_json(sent)
        return OK
    done = "could be sent" if sent["dry_run"] else "is on its way"
    echo(f"{sent['subject'] or 'the message'} {done} to {sent['to']} ({sent['delivery_id']})")
    for each in sent["waits"]:
        echo(f"it waits: {each}")
    return OK


def _body(
    body: str | None, file: Path | None, written: BodyFormat | None
) -> tuple[str, BodyFormat]:
    if (body is None) == (file is None):
        raise UsageError("give its text: --body TEXT, or --file PATH")
    if body is not None:
        return body, written or "text"
    assert file is not None
    if str(file) == "-":
        return sys.stdin.read(), written or "text"
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{file} cannot be read: {error}") from error
    return text, written or ENDINGS.get(file.suffix.lower(), "text")


async def _media(home: "Workspace", names: tuple[str, ...]) -> list[Any]:
    library = [each async for each in home.media.list()] if names else []
    return [{"media_id": find_named(library, each, "media")["id"]} for each in names]


def _print_outcome(template: "types.TemplateView", *, json: bool, done: str) -> int:
    if json:
        print_json(template)
        return OK
    version = template["version"]
    echo(f"{template['name']} {done}, version {version['number']} ({template['id']})")
    for each in version["removed"]:
        echo(f"taken out of the HTML: {each}")
    return OK
