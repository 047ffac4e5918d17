"""`cadenza outreach`: sequences of messages to people, under the limits of the accounts that send them."""

import csv
from pathlib import Path
from typing import Annotated, Any

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
from cadenza.cli.show import echo, print_facts, print_json, print_table, some

app = App(name="outreach", help="Write to people in steps, under the limits of accounts.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Some = Annotated[str | None, Parameter(show_default=False)]
DryRun = Annotated[bool, Parameter(negative="", show_default=False)]
CHUNK = 1_000  # messages that one request takes
LIMITS = {
    "hours": "the accounts' hours",
    "recipient_hours": "the recipients' hours",
    "gap": "the gap between two messages",
    "hour_cap": "the cap per hour",
    "day_cap": "the cap per day",
    "week_cap": "the cap per week",
    "rolling_day_cap": "the cap per 24 hours",
}


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List sequences."""
    async with opened_workspace(options) as home:
        found: Any = await home.sequences.list()
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "state", "steps", "accounts", "started", "id"),
        [
            (
                *(each["name"], each["state"], len(each["steps"]), len(each["account_ids"])),
                *(at(each["started_at"]), each["id"]),
            )
            for each in found
        ],
        empty="There is no sequence yet: `cadenza outreach create NAME` makes one.",
    )
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    account: Many = (),
    label: Many = (),
    step: Many = (),
    assignment: str = "round_robin",
    gap: Some = None,
    even: DryRun = False,
    recipient_hours: DryRun = False,
    quiet: Annotated[bool, Parameter(alias="-q", negative="", show_default=False)] = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Create a sequence; it is a draft until you start it.

    For example: `cadenza outreach create Autumn --account mailbox --step "Hello" --step "Reminder,wait=3,thread"`.

    Parameters
    ----------
    name
        What it is called.
    account
        An account that sends it; may be said several times.
    label
        Instead of accounts: all that have this label, also those that get it later; may be said several times.
    step
        A template's name or id, and behind commas: a channel (email, linkedin_message, linkedin_invitation,
        linkedin_inmail), wait=DAYS, thread (answer the mail before), accepted (once the connection is accepted).
        Two templates for one step: "A|B", with shares "A*2|B".
    assignment
        round_robin, balanced or sticky.
    gap
        Minutes between two messages of an account, such as 5-20.
    even
        Spread messages over the day's hours.
    recipient_hours
        Write within the same hours of the recipient's zone too.
    quiet
        Print the id alone.
    """
    async with opened_workspace(options) as home:
        templates: list[Any] = [each async for each in home.templates.list()] if step else []
        body: dict[str, Any] = {
            "name": name,
            "steps": [_step(each, templates) for each in step],
            "account_ids": [(await find_account(home, each))["id"] for each in account],
            "account_labels": list(label),
            "assignment": assignment,
            "even": even,
            "recipient_hours": recipient_hours,
            **_gap(gap),
        }
        made: Any = await home.sequences.create(**body)
    if options.json:
        print_json(made)
    elif quiet:
        echo(made["id"])
    else:
        echo(f"{made['name']} is a draft with {some(len(made['steps']), 'step')}: {made['id']}")
    return OK


@app.command
async def add(
    sequence: str,
    /,
    *contacts: str,
    audience: Some = None,
    messages: Annotated[Path | None, Parameter(show_default=False)] = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Put people into a sequence: contacts, an audience, or a file with a message for each.

    Parameters
    ----------
    sequence
        Its id or name.
    contacts
        Ids of contacts.
    audience
        Everybody in this audience, by id or name.
    messages
        A CSV file with the columns contact_id, channel, subject and text.
    dry_run
        Say what would happen, and change nothing.
    """
    async with opened_workspace(options) as home:
        known: Any = await home.sequences.list()
        id_ = find_named(known, sequence, "sequence")["id"]
        if messages is not None:
            answers = await _add_messages(home, id_, _read(messages), dry_run=dry_run)
        elif audience is not None:
            lists: Any = await home.audiences.list()
            chosen = find_named(lists, audience, "audience")["id"]
            answers = await _add_audience(home, id_, chosen, dry_run=dry_run)
        elif contacts:
            said = {"contact_ids": list(contacts)}
            answers = [await home.sequences.add_contacts(id_, dry_run=dry_run, **said)]  # pyright: ignore[reportArgumentType]
        else:
            raise UsageError("name contacts, an --audience or a file of --messages")
    if options.json:
        print_json(answers)
        return OK
    added = sum(each["added"] for each in answers)
    echo(f"{some(added, 'contact')} {'would be ' if dry_run else ''}added")
    for name, words in (
        ("there_already", "already in the sequence"),
        ("unknown", "unknown"),
        ("unreachable", "without an address for the first step"),
    ):
        if count := sum(len(each[name]) for each in answers):
            echo(f"{count} {words}")
    return OK


@app.command
async def plan(sequence: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show when the people who wait would be written to; nothing is stored.

    Parameters
    ----------
    sequence
        Its id or name.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        found: Any = await home.sequences.show_plan(id_)
        accounts: Any = await home.accounts.list()
    if options.json:
        print_json(found)
        return OK
    names = {each["id"]: each["handle"] or each["id"] for each in accounts}
    print_facts(
        {
            "messages": found["messages"],
            "without a time": found["without_time"] or None,
            "first": at(found["first_at"]),
            "last": at(found["last_at"]),
            "finished": found["finish_on"],
            "slowed down by": LIMITS.get(found["binding"] or ""),
        }
    )
    print_table(
        ("day", "account", "action", "planned", "others", "follow-ups (estimate)", "cap"),
        [
            (
                *(each["day"], names.get(each["account_id"]), each["action"], each["planned"]),
                *(each["others"], each["expected"], each["cap"]),
            )
            for each in found["days"]
        ],
        empty="Nobody waits for a time.",
    )
    for each in found["warnings"]:
        who = names.get(each["account_id"] or "")
        echo(f"warning: {who + ': ' if who else ''}{each['message']}")
    return OK


@app.command
async def replan(
    sequence: str,
    /,
    *,
    account: Some = None,
    reassign: DryRun = False,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Give what was not sent yet new times, or other accounts, and show what moves.

    Parameters
    ----------
    sequence
        Its id or name.
    account
        Only messages of this account.
    reassign
        Give messages of accounts that cannot send, or of --account, to the sequence's others.
    dry_run
        Show what would move, and change nothing.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        accounts: Any = await home.accounts.list()
        said: dict[str, Any] = {"reassign": reassign}
        if account is not None:
            said["account_id"] = (await find_account(home, account))["id"]
        made: Any = await home.sequences.replan(id_, dry_run=dry_run, **said)
    if options.json:
        print_json(made)
        return OK
    names = {each["id"]: each["handle"] or each["id"] for each in accounts}
    print_table(
        ("contact", "step", "was", "by", "now", "by"),
        [
            (
                *(each["contact_id"], each["step"] + 1),
                *(at(each["was_at"]), names.get(each["was_account_id"])),
                *(at(each["now_at"]), names.get(each["account_id"])),
            )
            for each in made["moves"]
        ],
        empty="Everything stays as it is.",
    )
    would = "would be " if dry_run else ""
    echo(f"{made['moved']} {would}moved, {made['reassigned']} of them to another account")
    if made["without_time"]:
        echo(f"{made['without_time']} have no other time and stay")
    return OK


@app.command
async def start(
    sequence: str, /, *, dry_run: DryRun = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Start a draft.

    Parameters
    ----------
    sequence
        Its id or name.
    dry_run
        Say whether it could be started, and change nothing.
    """
    return await _change(sequence, "start", options, dry_run=dry_run)


@app.command
async def pause(
    sequence: str,
    contact: str | None = None,
    /,
    *,
    reason: str = "",
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Pause a sequence, or one person in it.

    Parameters
    ----------
    sequence
        Its id or name.
    contact
        The id of one contact; the others go on.
    reason
        Why, for others to read.
    """
    if contact is not None:
        return await _change_person(sequence, contact, "pause_contact", options)
    return await _change(sequence, "pause", options, reason=reason)


@app.command
async def resume(
    sequence: str, contact: str | None = None, /, *, options: WorkspaceOptions = USUALLY
) -> int:
    """Go on with a sequence, or with one person in it; what came due meanwhile gets new times.

    Parameters
    ----------
    sequence
        Its id or name.
    contact
        The id of one contact.
    """
    if contact is not None:
        return await _change_person(sequence, contact, "resume_contact", options)
    return await _change(sequence, "resume", options)


@app.command
async def snooze(
    sequence: str, contact: str, /, *, until: str, options: WorkspaceOptions = USUALLY
) -> int:
    """Leave one person alone until a time; then the sequence goes on.

    Parameters
    ----------
    sequence
        Its id or name.
    contact
        The id of a contact.
    until
        A time with its offset, such as 2027-01-04T09:00+01:00.
    """
    return await _change_person(sequence, contact, "snooze_contact", options, until=until)


@app.command
async def stop(sequence: str, contact: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Stop a sequence for one person.

    Parameters
    ----------
    sequence
        Its id or name.
    contact
        The id of a contact.
    """
    return await _change_person(sequence, contact, "stop_contact", options)


@app.command
async def end(
    sequence: str, /, *, dry_run: DryRun = False, options: WorkspaceOptions = USUALLY
) -> int:
    """End a sequence for good: what is planned is canceled, the history stays.

    Parameters
    ----------
    sequence
        Its id or name.
    dry_run
        Change nothing.
    """
    return await _change(sequence, "end", options, dry_run=dry_run)


@app.command
async def people(
    sequence: str, /, *, state: Some = None, options: WorkspaceOptions = USUALLY
) -> int:
    """List the people of a sequence.

    Parameters
    ----------
    sequence
        Its id or name.
    state
        waiting, planned, paused, snoozed, finished or stopped.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        said: Any = {} if state is None else {"state": state}
        found: list[Any] = [each async for each in home.sequences.list_contacts(id_, **said)]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("contact", "state", "why", "next step", "last sent"),
        [
            (
                *(each["contact_id"], each["state"], each["detail"] or each["cause"]),
                *(each["next_step"] + 1, at(each["last_sent_at"])),
            )
            for each in found
        ],
        empty="Nobody is in it: `cadenza outreach add` puts people in.",
    )
    return OK


@app.command
async def report(sequence: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Report a sequence: people by state, and messages by step, variant and account.

    Parameters
    ----------
    sequence
        Its id or name.
    """
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        found: Any = await home.sequences.show_report(id_)
        accounts: Any = await home.accounts.list()
    if options.json:
        print_json(found)
        return OK
    names = {each["id"]: each["handle"] or each["id"] for each in accounts}
    print_facts({name: count or None for name, count in found["people"].items()})
    if found["stopped"]:
        said = ", ".join(f"{count} {cause}" for cause, count in sorted(found["stopped"].items()))
        echo(f"stopped by: {said}")
    columns = ("sent", "waiting", "replied", "bounced", "accepted", "unconfirmed", "not_sent")
    print_table(
        ("step", "template version", "account", *(name.replace("_", " ") for name in columns)),
        [
            (
                *(each["step"] + 1, each["template_version_id"], names.get(each["account_id"])),
                *(each[name] for name in columns),
            )
            for each in found["lines"]
        ],
        empty="Nothing is planned yet.",
    )
    return OK


@app.command
async def doctor(*, options: WorkspaceOptions = USUALLY) -> int:
    """Walk the list of what can keep outreach from going out, with what to do.

    The exit code is 1 where something is wrong.
    """
    async with opened_workspace(options) as home:
        found: Any = await home.outreach.examine_outreach()
    if options.json:
        print_json(found)
    for each in () if options.json else found:
        echo(f"{'problem' if each['is_problem'] else 'fine'}: {each['message']}")
        if each["is_problem"] and each["what_to_do"]:
            echo(f"  {each['what_to_do']}")
    if not found and not options.json:
        echo("No sequence runs.")
    return REFUSED if any(each["is_problem"] for each in found) else OK


async def _find(home: Any, sequence: str) -> str:
    known: Any = await home.sequences.list()
    return find_named(known, sequence, "sequence")["id"]


async def _change(
    sequence: str, what: str, options: WorkspaceOptions, *, dry_run: bool = False, **body: Any
) -> int:
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        made: Any = await getattr(home.sequences, what)(id_, dry_run=dry_run, **body)
    if options.json:
        print_json(made)
    else:
        echo(f"{made['name']} {'would be' if dry_run else 'is'} {made['state']}")
    return OK


async def _change_person(
    sequence: str, contact: str, what: str, options: WorkspaceOptions, **body: Any
) -> int:
    async with opened_workspace(options) as home:
        id_ = await _find(home, sequence)
        made: Any = await getattr(home.sequences, what)(id_, contact, **body)
    if options.json:
        print_json(made)
    else:
        echo(f"{made['contact_id']} is {made['state']}")
    return OK


async def _add_audience(home: Any, id_: str, audience_id: str, *, dry_run: bool) -> list[Any]:
    answers: list[Any] = []
    after: str | None = ""
    while after is not None:
        made: Any = await home.sequences.add_contacts(
            id_, dry_run=dry_run, audience_id=audience_id, after=after
        )
        answers.append(made)
        after = made["next"]
    return answers


async def _add_messages(
    home: Any, id_: str, messages: list[dict[str, str]], *, dry_run: bool
) -> list[Any]:
    return [
        await home.sequences.add_messages(
            id_, dry_run=dry_run, messages=messages[begin : begin + CHUNK]
        )
        for begin in range(0, len(messages), CHUNK)
    ]


def _read(path: Path) -> list[dict[str, str]]:
    known = {"contact_id", "channel", "subject", "text"}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"contact_id", "text"} <= set(rows[0]):
        raise UsageError(f"{path} needs a line of headings with contact_id and text")
    return [{name: row[name] for name in known if row.get(name)} for row in rows]


def _step(said: str, templates: list[Any]) -> dict[str, Any]:
    first, *rest = [each.strip() for each in said.split(",")]
    step: dict[str, Any] = {"variants": [_variant(each, templates) for each in first.split("|")]}
    for each in rest:
        if each.startswith("wait="):
            step["wait_days"] = int(each.removeprefix("wait="))
        elif each == "thread":
            step["same_thread"] = True
        elif each == "accepted":
            step["only_if"] = "accepted"
        else:
            step["channel"] = each
    return step


def _variant(said: str, templates: list[Any]) -> dict[str, Any]:
    name, _, share = said.partition("*")
    found = find_named(templates, name.strip(), "template")
    return {"template_id": found["id"], "share": int(share or 1)}


def _gap(said: str | None) -> dict[str, int]:
    if said is None:
        return {}
    shortest, _, longest = said.partition("-")
    try:
        low, high = float(shortest), float(longest or shortest)
    except ValueError:
        raise UsageError(f"{said!r} is no gap: write minutes, such as 5-20") from None
    return {"shortest_gap": int(low * 60), "longest_gap": int(high * 60)}
