"""`cadenza form`: sign-up forms for your site, with double opt-in."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    find_account,
    find_named,
    opened_workspace,
)
from cadenza.cli.show import echo, print_json, print_table

app = App(name="form", help="Let people sign up by a form on your site; they confirm by mail.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List sign-up forms, and how many signed up by each."""
    async with opened_workspace(options) as home:
        found: Any = await home.signup_forms.list()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "active", "confirmed", "pending", "address", "id"),
        [
            (
                *(each["name"], "yes" if each["active"] else "no", each["confirmed"]),
                *(each["pending"], each["url"], each["id"]),
            )
            for each in found
        ],
        empty="There is no form yet: `cadenza form create NAME --audience LIST --account ACCOUNT` makes one.",
    )
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    audience: str,
    account: str,
    field: Many = (),
    title: str | None = None,
    consent: str | None = None,
    site: Many = (),
    redirect: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a sign-up form, and print the HTML to put on your site.

    For example: `cadenza form create News --audience Newsletter --account smtp --field first_name="First name"`.

    Parameters
    ----------
    name
        What it is called.
    audience
        The list that people join, by id or name.
    account
        The account that mails the link to confirm, by id or handle.
    field
        KEY=LABEL of something to ask besides the address; with a `!` behind the key it must be filled in. May be
        said several times.
    title
        What stands above the form.
    consent
        What people agree to; it is kept as proof.
    site
        A site that may show the form, such as https://www.example.org; without any, every site may.
    redirect
        Where visitors go on after signing up.
    """
    texts = {
        key: words for key, words in (("title", title), ("consent", consent)) if words is not None
    }
    async with opened_workspace(options) as home:
        audience_id = find_named(await home.audiences.list(), audience, "audience")["id"]
        body: dict[str, Any] = {
            "name": name,
            "audience_id": audience_id,
            "account_id": (await find_account(home, account))["id"],
            "fields": [_read_field(each) for each in field],
            "origins": list(site),
            "texts": texts,
            "redirect_url": redirect,
        }
        made: Any = await home.signup_forms.create(**body)
    if options.json:
        print_json(made)
    else:
        echo(f"{made['name']} is made: {made['url']}")
        echo(made["html"])
    return OK


@app.command
async def show(form: str, /, *, frame: Yes = False, options: WorkspaceOptions = USUALLY) -> int:
    """Print the HTML of a form, to put on your site.

    Parameters
    ----------
    form
        Its id or name.
    frame
        As a frame, which looks the same everywhere, instead of HTML to style.
    """
    async with opened_workspace(options) as home:
        found = find_named(await home.signup_forms.list(), form, "form")
    if options.json:
        print_json(found)
    else:
        echo(found["iframe"] if frame else found["html"])
    return OK


@app.command
async def close(form: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let nobody sign up by a form any more; who did can still confirm.

    Parameters
    ----------
    form
        Its id or name.
    """
    return await _switch(form, options, active=False)


@app.command(name="open")
async def open_(form: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let people sign up by a form again.

    Parameters
    ----------
    form
        Its id or name.
    """
    return await _switch(form, options, active=True)


@app.command
async def delete(form: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Delete a form with its sign-ups; who confirmed stays a contact.

    Parameters
    ----------
    form
        Its id or name.
    """
    async with opened_workspace(options) as home:
        found = find_named(await home.signup_forms.list(), form, "form")
        gone: Any = await home.signup_forms.delete(found["id"])
    if options.json:
        print_json(gone)
    else:
        echo(f"{found['name']} is deleted")
    return OK


_KEPT = (
    *("name", "audience_id", "account_id", "texts", "fields", "origins"),
    *("redirect_url", "confirmed_url"),
)


async def _switch(form: str, options: WorkspaceOptions, *, active: bool) -> int:
    async with opened_workspace(options) as home:
        found = find_named(await home.signup_forms.list(), form, "form")
        body = {key: found[key] for key in _KEPT}
        changed: Any = await home.signup_forms.change(found["id"], **body, active=active)
    if options.json:
        print_json(changed)
    else:
        echo(f"{changed['name']} is {'open' if active else 'closed'}")
    return OK


def _read_field(text: str) -> dict[str, Any]:
    key, sign, label = text.partition("=")
    if not sign or not label:
        raise UsageError(f"{text!r} is no field: write first_name='First name'")
    return {"key": key.rstrip("!"), "label": label, "required": key.endswith("!")}
