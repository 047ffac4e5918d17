"""`cadenza message`: one template to one recipient, through the pipeline and under the account's limits."""

from datetime import datetime

from cyclopts import App

from cadenza.cli.codes import UsageError
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, find_account, opened_workspace
from cadenza.cli.template import ChannelName, Many, Yes, find_template, tell_message, values_of

app = App(name="message", help="Send a template to one recipient.")


@app.command
async def send(
    template: str,
    to: str | None = None,
    /,
    *,
    account: str,
    contact: str | None = None,
    variable: Many = (),
    channel: ChannelName = "email",
    name: str | None = None,
    send_at: datetime | None = None,
    once: str | None = None,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Send a template to one recipient.

    For example: `cadenza message send Receipt ben@example.org --account smtp --variable order=A-7 --once A-7`.

    Parameters
    ----------
    template
        The template's id or name.
    to
        An address, a chat or a profile, as the channel has it. Without it the contact's own.
    account
        The account that sends it.
    contact
        The id of the contact who gets it; their fields fill the template's variables.
    variable
        NAME=TEXT; may be said several times. It wins over the contact's.
    channel
        By which channel.
    name
        The recipient's name.
    send_at
        When, with an offset: 2026-11-18T09:00+01:00. Now without it.
    once
        A word of yours for this message: the same word again sends nothing more.
    dry_run
        Say whether it could be sent, and send nothing.
    """
    if send_at is not None and send_at.tzinfo is None:
        raise UsageError("--send-at needs an offset: 2026-11-18T09:00+01:00")
    if to is None and contact is None:
        raise UsageError("say whom it goes to: an address, or --contact ID")
    async with opened_workspace(options) as home:
        sent = await home.messages.send(
            template_id=(await find_template(home, template))["id"],
            account_id=(await find_account(home, account))["id"],
            to=to,
            contact_id=contact,
            to_name=name,
            variables=values_of(variable),
            channel=channel,
            send_at=send_at,
            dry_run=dry_run,
            idempotency_key=once,
        )
    return tell_message(sent, json=options.json)
