"""`cadenza campaign`: one template to an audience; start it, watch it, pause it, say what became of everybody."""

import csv
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    find_account,
    find_named,
    opened_workspace,
)
from cadenza.cli.show import echo, print_facts, print_json, print_table, some

if TYPE_CHECKING:
    from cadenza.client.core import Workspace

app = App(name="campaign", help="Send one template to an audience, under a rate.")
Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]
ENDED = ("completed", "failed", "canceled")
COUNTS = ("sent", "failed", "unconfirmed", "missed", "skipped", "canceled", "waiting")


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List campaigns with their progress, the newest first."""
    async with opened_workspace(options) as home:
        found: list[Any] = [each async for each in home.campaigns.list()]
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("name", "state", "done", "sent", "failed", "waiting", "id"),
        [
            (
                each["name"],
                each["state"],
                f"{each['progress']['percent']} %",
                each["progress"]["sent"],
                each["progress"]["failed"],
                each["progress"]["waiting"],
                each["id"],
            )
            for each in found
        ],
        empty="There is no campaign yet: `cadenza campaign create NAME` makes one.",
    )
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    audience: str,
    template: str,
    account: Many,
    channel: str = "email",
    rate: int | None = None,
    retries: int = 3,
    value: Many = (),
    start_at: datetime | None = None,
    not_after: datetime | None = None,
    quiet_hours: str | None = None,
    local_start: Yes = False,
    zone: str | None = None,
    skip_incomplete: Yes = False,
    variant: Many = (),
    split_percent: int = 100,
    winner_by: Literal["hand", "replies", "clicks"] = "hand",
    winner_after: int = 240,
    test: Yes = False,
    test_address: Many = (),
    fault: Many = (),
    quiet: Quiet = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a draft; nothing is sent before it is started.

    For example: `cadenza campaign create "Autumn" --audience Regulars --template Letter --account smtp --rate 600`.

    Parameters
    ----------
    name
        What it is called.
    audience
        Its id or name.
    template
        Its id or name; the newest version is kept.
    account
        Who sends; several take turns.
    channel
        Where it goes: email, telegram, ….
    rate
        How many leave in a minute at most.
    retries
        So many tries after the first.
    value
        NAME=VALUE for all recipients; may be said several times.
    start_at
        When it starts, once you have started it: with an offset, such as 2026-12-01T09:00+01:00.
    not_after
        Nothing leaves after this.
    quiet_hours
        When nobody is written to, on each recipient's clock: 22:00-08:00.
    local_start
        Start at the hour of --start-at on each recipient's clock.
    zone
        Of recipients without a time zone; the workspace's if not given.
    skip_incomplete
        Skip recipients with missing values instead of refusing the start.
    variant
        Another template that is tried against it; may be said several times.
    split_percent
        So many of a hundred try them; the rest gets the winner.
    winner_by
        Who chooses the winner: you, or what brings more replies or clicks.
    winner_after
        So many minutes after the last of the trial was planned.
    test
        Nothing reaches a network; all else is as it would be.
    test_address
        Somebody who really gets the test; may be said several times.
    fault
        FAULT=PERCENT that the test meets: blocked, bounce, broken, flood_wait, refused, timeout.
    quiet
        Print its id alone, for other commands.
    """
    for moment in (start_at, not_after):
        if moment is not None and moment.tzinfo is None:
            raise UsageError("say the offset too: 2026-12-01T09:00+01:00")
    async with opened_workspace(options) as home:
        audiences: Any = await home.audiences.list()
        templates: Any = [each async for each in home.templates.list()]
        body: dict[str, Any] = {
            "name": name,
            "audience_id": find_named(audiences, audience, "audience")["id"],
            "template_id": find_named(templates, template, "template")["id"],
            "account_ids": [(await find_account(home, each))["id"] for each in account],
            "channel": channel,
            "delivery_rate": rate,
            "retry_limit": retries,
            "params": dict(_pair(each) for each in value),
            "start_at": None if start_at is None else start_at.isoformat(),
            "not_after_at": None if not_after is None else not_after.isoformat(),
            "variants": [
                {"template_id": find_named(templates, each, "template")["id"]} for each in variant
            ],
            "split_percent": split_percent,
            "winner_by": winner_by,
            "winner_after_minutes": winner_after,
            "quiet_hours": quiet_hours,
            "local_start": local_start,
            "zone": zone,
            "skip_incomplete": skip_incomplete,
            "mode": "test" if test else "live",
            "test_addresses": list(test_address),
            "test_faults": {name: int(percent) for name, percent in map(_pair, fault)},
        }
        made: Any = await home.campaigns.create(**body)
    if quiet:
        echo(made["id"])
    elif options.json:
        print_json(made)
    else:
        echo(f"{made['name']} is a draft: {made['id']}")
        echo(f"`cadenza campaign start {made['id']} --dry-run` shows what starting it comes to.")
    return OK


@app.command
async def show(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a campaign and how far it is.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    async with opened_workspace(options) as home:
        found: Any = await _find(home, campaign)
    if options.json:
        print_json(found)
        return OK
    progress = found["progress"]
    facts = [
        ("name", found["name"]),
        ("state", found["state"] + (f": {found['reason']}" if found["reason"] else "")),
        ("done", f"{progress['percent']} % of {progress['total']}"),
        *((name, progress[name]) for name in COUNTS),
        (
            "rate",
            f"{found['delivery_rate']} a minute"
            if found["delivery_rate"]
            else "as fast as the accounts may",
        ),
        ("sent a minute", progress["per_minute"]),
        ("sent a second", progress["per_second"]),
        ("decided by", progress["bound_by"]),
        (
            "goes on at",
            None if found["auto_resume_at"] is None else at(found["auto_resume_at"]),
        ),
        ("ends about", None if progress["finish_at"] is None else at(progress["finish_at"])),
    ]
    print_facts({name: value for name, value in facts if value is not None})
    return OK


@app.command
async def start(
    campaign: str,
    /,
    *,
    dry_run: Yes = False,
    watch: Yes = False,
    yes: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Start it, or let it wait for its time; one that is not a test asks first.

    Parameters
    ----------
    campaign
        Its id or name.
    dry_run
        Say what it comes to, and change nothing.
    watch
        Stay, and show how far it is until it ends.
    yes
        Start it without being asked.
    """
    async with opened_workspace(options) as home:
        there = await _find(home, campaign)
        confirmed: int | None = None
        if there["mode"] == "live" and not (dry_run or yes):
            shown: Any = await home.campaigns.start(there["id"], dry_run=True)
            _print_plan(shown, "would be written to")
            confirmed = shown["recipients"]
            if not _agrees("Start it? [y/N] "):
                raise UsageError("it was not started; say --yes to start it without being asked")
        plan: Any = await home.campaigns.start(there["id"], recipients=confirmed, dry_run=dry_run)
        if options.json:
            print_json(plan)
        else:
            _print_plan(plan, "would be written to" if dry_run else "are written to")
        if watch and not dry_run:
            await _watch(home, there["id"])
    return OK


def _print_plan(plan: Any, verb: str) -> None:
    accounts = some(len(plan["accounts"]), "account")
    echo(f"{some(plan['recipients'], 'recipient')} {verb} by {accounts}")
    echo(f"the first at {at(plan['first_at'])}")
    if plan["finish_at"]:
        bound_by = plan["bound_by"].replace("_", " ")
        echo(f"the last about {at(plan['finish_at'])}, by its {bound_by}")
    for each in plan["warnings"]:
        echo(each)


def _agrees(question: str) -> bool:
    try:
        return input(question).strip().casefold() in ("y", "yes")
    except EOFError:
        return False


@app.command(name="watch")
async def watch_(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show how far it is, again and again until it ends or is paused.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    async with opened_workspace(options) as home:
        await _watch(home, (await _find(home, campaign))["id"])
    return OK


@app.command
async def pause(campaign: str, /, *, reason: str = "", options: WorkspaceOptions = USUALLY) -> int:
    """Let nothing more of it leave until it is resumed.

    Parameters
    ----------
    campaign
        Its id or name.
    reason
        Why, for others.
    """
    return await _do(campaign, "pause", options, reason=reason)


@app.command
async def resume(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Go on with a paused campaign.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    return await _do(campaign, "resume", options)


@app.command
async def cancel(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """End it now; what waits is canceled.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    return await _do(campaign, "cancel", options)


@app.command(name="retry-failed")
async def retry_failed(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Send again to those for whom it failed.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    return await _do(campaign, "retry_failed", options)


@app.command(name="send-to-remaining")
async def send_to_remaining(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Send to those who joined the audience since.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    return await _do(campaign, "send_to_remaining", options)


@app.command
async def rate(campaign: str, per_minute: int, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Change how many leave in a minute, also while it runs.

    Parameters
    ----------
    campaign
        Its id or name.
    per_minute
        How many at most.
    """
    return await _do(campaign, "set_rate", options, delivery_rate=per_minute)


@app.command
async def winner(campaign: str, variant: int, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Send one of the versions that were tried to the rest of the audience.

    Parameters
    ----------
    campaign
        Its id or name.
    variant
        Its place: 0 is the campaign's own template.
    """
    return await _do(campaign, "choose_winner", options, variant=variant)


@app.command
async def duplicate(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Make a draft like it.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    return await _do(campaign, "duplicate", options)


@app.command
async def delete(campaign: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Delete a draft, or a campaign that has ended; what it sent stays in the ledger.

    Parameters
    ----------
    campaign
        Its id or name.
    """
    async with opened_workspace(options) as home:
        there = await _find(home, campaign)
        gone: Any = await home.campaigns.delete(there["id"])
    if options.json:
        print_json(gone)
    else:
        echo(f"{there['name']} is deleted")
    return OK


@app.command
async def purge(*, sent_before: str, yes: Yes = False, options: WorkspaceOptions = USUALLY) -> int:
    """Remove what ended campaigns sent long ago; the ledger and the totals stay.

    Without --yes it only says what it would remove. For example: `cadenza campaign purge --sent-before 90d`.

    Parameters
    ----------
    sent_before
        So many days ago, such as 90d, or a time with an offset.
    yes
        Remove it.
    """
    before = _before(sent_before)
    async with opened_workspace(options) as home:
        found: Any = await home.campaigns.purge(sent_before=before.isoformat(), dry_run=not yes)
    if options.json:
        print_json(found)
        return OK
    what = f"{some(found['deliveries'], 'message')} of {some(found['campaigns'], 'campaign')}"
    if yes:
        echo(f"{what} are removed in the background")
    else:
        echo(f"{what} would be removed: add --yes. Such a campaign can't be reopened afterwards.")
    return OK


def _before(text: str) -> datetime:
    from datetime import timedelta

    from cadenza.core.clock import SystemClock

    if text[:-1].isdecimal() and text.endswith("d"):
        return SystemClock().now() - timedelta(days=int(text[:-1]))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError("say how many days ago, such as 90d, or a time") from error
    if moment.tzinfo is None:
        raise UsageError("say the offset too: 2026-12-01T09:00+01:00")
    return moment


@app.command
async def report(
    campaign: str,
    file: Path | None = None,
    /,
    *,
    state: Literal[
        "scheduled", "sending", "sent", "failed", "unconfirmed", "missed", "skipped", "canceled"
    ]
    | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Say what became of each recipient; with a FILE, as a CSV.

    Parameters
    ----------
    campaign
        Its id or name.
    file
        Where to write.
    state
        Only these.
    """
    async with opened_workspace(options) as home:
        there = await _find(home, campaign)
        rows: list[Any] = [
            each async for each in home.campaigns.list_recipients(there["id"], state=state)
        ]
        if state in (None, "skipped"):
            skipped = home.campaigns.list_skipped(there["id"])
            rows += [
                {
                    "recipient": each["recipient"] or each["member_id"],
                    "state": "skipped",
                    "reason": each["message"],
                }
                async for each in skipped
            ]
    if options.json:
        print_json(rows)
        return OK
    columns = ("recipient", "state", "reason", "sent_at", "attempts", "url")
    table = [[_cell(each.get(name)) for name in columns] for each in rows]
    if file is None:
        print_table(columns, [tuple(each) for each in table], empty="Nobody yet.")
        return OK
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows([_guard(each) for each in row] for row in table)
    echo(f"{some(len(table), 'recipient')} in {file}")
    return OK


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _guard(text: str) -> str:
    """Keep a spreadsheet from running a cell as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UsageError("say NAME=VALUE, such as --value season=autumn")
    return name, value


async def _find(home: "Workspace", named: str) -> Any:
    found: list[Any] = [each async for each in home.campaigns.list()]
    return find_named(found, named, "campaign")


async def _do(campaign: str, verb: str, options: WorkspaceOptions, **body: Any) -> int:
    async with opened_workspace(options) as home:
        there = await _find(home, campaign)
        answer: Any = await getattr(home.campaigns, verb)(there["id"], **body)
    if options.json:
        print_json(answer)
    else:
        echo(f"{answer['name']} is {answer['state']}: {answer['id']}")
    return OK


def _status(campaign: Any) -> str:
    """Say in one line where it stands, how fast it is, what decides that, and when it ends."""
    seen = campaign["progress"]
    parts = [f"{campaign['state']}: {seen['sent']} sent, {seen['failed']} failed"]
    if campaign["state"] == "paused" and campaign["reason"]:
        parts.append(campaign["reason"])
    elif seen["per_second"] is not None:
        parts.append(f"{seen['per_second']:g}/s by its {seen['bound_by'].replace('_', ' ')}")
    if seen["finish_at"] is not None:
        parts.append(f"ends about {at(seen['finish_at'])}")
    return ", ".join(parts)


async def _watch(home: "Workspace", campaign_id: str) -> None:
    """Show a bar until it ends."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    from cadenza.core.clock import SystemClock

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("planned", total=None)
        while True:
            there: Any = await home.campaigns.show(campaign_id)
            seen = there["progress"]
            said = _status(there)
            bar.update(
                task,
                total=seen["total"] or None,
                completed=seen["total"] - seen["waiting"],
                description=said,
            )
            if there["state"] in (*ENDED, "paused", "draft"):
                return
            await SystemClock().sleep(1)
