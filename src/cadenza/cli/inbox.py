"""`cadenza inbox`: conversations with people who answered, and where answers come from."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.account import ask_value
from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    find_account,
    opened_workspace,
    short,
)
from cadenza.cli.show import echo, print_json, print_table

app = App(name="inbox", help="Read and answer replies; see bounces and complaints.")
source_app = App(name="source", help="Let providers tell what became of messages.")
app.command(source_app)
mailbox_app = App(name="mailbox", help="Read replies and bounces from mailboxes, by IMAP.")
app.command(mailbox_app)

Yes = Annotated[bool, Parameter(negative="", show_default=False)]
State = Literal["open", "done"]
Label = Literal["interested", "not_now", "wrong_person"]


@app.command(name="list")
async def list_(
    *,
    state: State | None = None,
    label: Label | None = None,
    assignee: str | None = None,
    account: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """List conversations, those with the newest message first.

    Parameters
    ----------
    state
        open or done.
    label
        interested, not_now or wrong_person.
    assignee
        The id of the member who takes care of it.
    account
        The account that people wrote to.
    """
    async with opened_workspace(options) as home:
        said: dict[str, Any] = {"state": state, "label": label, "assignee": assignee}
        if account is not None:
            said["account"] = (await find_account(home, account))["id"]
        requested: Any = {name: value for name, value in said.items() if value}
        found: list[Any] = [each async for each in home.inbox.list_conversations(**requested)]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("from", "what", "text", "state", "label", "last", "id"),
        [
            (
                *(each["name"] or each["address"] or "unknown", each["last_kind"]),
                *(short(each["last_text"], 50), each["state"], each["label"] or ""),
                *(each["last_at"], each["id"]),
            )
            for each in found
        ],
        empty="You're all caught up.",
    )
    return OK


@app.command
async def show(conversation: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a conversation: what came in and what was sent, oldest first.

    Parameters
    ----------
    conversation
        Its id.
    """
    async with opened_workspace(options) as home:
        found: Any = await home.inbox.show_conversation(conversation)
    if options.json:
        print_json(found)
        return OK
    about = found["conversation"]
    echo(f"{about['name']} <{about['address']}>: {about['subject'] or about['channel']}")
    echo(f"{about['state']}, {about['label'] or 'no label'}, for {about['assignee'] or 'nobody'}")
    lines = [
        *((each["happened_at"], each["kind"], each["text"]) for each in found["received"]),
        *(
            (each["sent_at"] or each["due_at"], f"our message ({each['state']})", each["text"])
            for each in found["sent"]
        ),
    ]
    for at, what, text in sorted(lines):
        echo(f"\n{at} {what}\n{text}")
    return OK


@app.command
async def reply(
    conversation: str,
    text: str,
    /,
    *,
    close: Yes = False,
    once: str | None = None,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Answer by the same account, in the same thread, under the account's limits.

    Parameters
    ----------
    conversation
        Its id.
    text
        What to write.
    close
        Close the conversation with it.
    once
        A word of yours for this answer: the same word again sends nothing more.
    dry_run
        Say whether it could be sent, and send nothing.
    """
    async with opened_workspace(options) as home:
        sent: Any = await home.inbox.reply(
            conversation, text=text, close=close, dry_run=dry_run, idempotency_key=once
        )
    if options.json:
        print_json(sent)
        return OK
    echo("It could be sent." if dry_run else f"Handed over as delivery {sent['delivery_id']}.")
    for each in sent["waits"]:
        echo(f"It waits: {each}")
    return OK


@app.command
async def assign(
    conversation: str, member: str | None = None, /, *, options: WorkspaceOptions = USUALLY
) -> int:
    """Hand a conversation to a member; without one, take it back.

    Parameters
    ----------
    conversation
        Its id.
    member
        The member's id or e-mail address.
    """
    async with opened_workspace(options) as home:
        id_ = None if member is None else await _member(home, member)
        done: Any = await home.inbox.change_conversation(conversation, assignee=id_)
    return _tell(done, f"It is {member or 'nobody'}'s now.", options)


@app.command
async def close(
    conversation: str, /, *, reopen: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Close a conversation; a new reply opens it again.

    Parameters
    ----------
    conversation
        Its id.
    reopen
        Open it again instead.
    """
    state: State = "open" if reopen else "done"
    async with opened_workspace(options) as home:
        done: Any = await home.inbox.change_conversation(conversation, state=state)
    return _tell(done, "It is open again." if reopen else "It is closed.", options)


@app.command
async def label(
    conversation: str, label: Label | None = None, /, *, options: WorkspaceOptions = USUALLY
) -> int:
    """Label a conversation; without a label, take it away.

    Parameters
    ----------
    conversation
        Its id.
    label
        interested, not_now or wrong_person.
    """
    async with opened_workspace(options) as home:
        done: Any = await home.inbox.change_conversation(conversation, label=label)
    return _tell(done, f"It is labelled {label}." if label else "Its label is gone.", options)


@app.command
async def accounts(*, options: WorkspaceOptions = USUALLY) -> int:
    """Show what came back to each account in the last 30 days."""
    async with opened_workspace(options) as home:
        found: Any = await home.inbox.show_results()
    if options.json:
        print_json(found)
        return OK
    names = (
        *("account_id", "sent", "replies", "hard_bounces", "bounce_percent", "soft_bounces"),
        *("refused", "complaints", "complaint_percent", "unsubscribes", "at_risk"),
    )
    print_table(
        tuple(name.replace("_", " ") for name in names),
        [tuple("" if each[name] is None else each[name] for name in names) for each in found],
        empty="There is no account yet.",
    )
    return OK


@source_app.command(name="list")
async def list_sources(*, options: WorkspaceOptions = USUALLY) -> int:
    """List the programs that tell what became of messages."""
    async with opened_workspace(options) as home:
        found: Any = await home.inbound.list_inbound_sources()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("kind", "account", "address", "last event", "id"),
        [
            (
                *(each["kind"], each["account_id"] or "all", each["url"]),
                *(each["last_event_at"] or "never", each["id"]),
            )
            for each in found
        ],
        empty="Nobody tells yet: `cadenza inbox source add signed --account NAME` makes an address.",
    )
    return OK


@source_app.command
async def add(
    kind: Literal["signed", "unipile", "ses", "postmark", "mailgun", "sendgrid"],
    /,
    *,
    account: str | None = None,
    secret: str | None = None,
    topic: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make an address for a provider's events.

    Parameters
    ----------
    kind
        signed (a program of your own), unipile, ses, postmark, mailgun or sendgrid.
    account
        Whose messages it tells of.
    secret
        Mailgun's signing key, or SendGrid's verification key.
    topic
        The ARN of the SNS topic, for ses.
    """
    async with opened_workspace(options) as home:
        body: dict[str, Any] = {"kind": kind, "secret": secret, "topic": topic}
        if account is not None:
            body["account_id"] = (await find_account(home, account))["id"]
        requested: Any = {name: value for name, value in body.items() if value is not None}
        made: Any = await home.inbound.add_inbound_source(**requested)
    if options.json:
        print_json(made)
        return OK
    echo(f"address: {made['source']['url']}")
    if made["secret"]:
        echo(f"secret, shown this once: {made['secret']}")
    echo(made["how"])
    return OK


@source_app.command
async def remove(source: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Listen to a program no more.

    Parameters
    ----------
    source
        Its id.
    """
    async with opened_workspace(options) as home:
        gone: Any = await home.inbound.remove_inbound_source(source)
    return _tell(gone, "It is removed.", options)


@mailbox_app.command(name="set")
async def set_mailbox(
    account: str,
    host: str,
    /,
    *,
    username: str,
    port: int | None = None,
    security: Literal["tls", "starttls", "none"] = "tls",
    by_token: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Read an account's replies and bounces by IMAP from now on; the password is asked for, or read from stdin.

    Parameters
    ----------
    account
        Whose replies they are.
    host
        The incoming server, such as imap.example.org.
    username
        Often the address itself.
    port
        993 for tls, 143 otherwise.
    security
        tls, starttls or none.
    by_token
        Sign in by the account's own access (XOAUTH2), as Google and Microsoft ask for, instead of a password.
    """
    async with opened_workspace(options) as home:
        id_ = (await find_account(home, account))["id"]
        body: Any = {"host": host, "username": username, "security": security}
        if by_token:
            body["auth"] = "xoauth2"
        else:
            body["password"] = ask_value("Password: ", secret=True)
        if port is not None:
            body["port"] = port
        done: Any = await home.mailboxes.set_mailbox(id_, **body)
    return _tell(done, f"{done['username']} at {done['host']} is read from now on.", options)


@mailbox_app.command(name="show")
async def show_mailbox(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show where an account's replies are read, and whether that works.

    Parameters
    ----------
    account
        Whose replies they are.
    """
    async with opened_workspace(options) as home:
        id_ = (await find_account(home, account))["id"]
        found: Any = await home.mailboxes.show_mailbox(id_)
    works = found["error"] or f"read last at {found['polled_at'] or 'no time yet'}"
    return _tell(found, f"{found['username']} at {found['host']}: {works}", options)


@mailbox_app.command(name="remove")
async def remove_mailbox(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Read an account's mailbox no more.

    Parameters
    ----------
    account
        Whose mailbox it is.
    """
    async with opened_workspace(options) as home:
        id_ = (await find_account(home, account))["id"]
        gone: Any = await home.mailboxes.remove_mailbox(id_)
    return _tell(gone, "It is read no more.", options)


async def _member(home: Any, named: str) -> str:
    for each in await home.people.list_members():
        if named in (each["id"], each["email"]):
            return each["id"]
    raise UsageError(f"there is no member {named!r} here: `cadenza person list` shows them")


def _tell(answer: Any, said: str, options: WorkspaceOptions) -> int:
    if options.json:
        print_json(answer)
    else:
        echo(said)
    return OK
