"""`cadenza post`: write posts, approve them, send them, take them back; import them from a file."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.numbers import Count
from cadenza.cli.open_workspace import (
    USUALLY,
    Quiet,
    WorkspaceOptions,
    at,
    find_account,
    find_accounts,
    find_named,
    opened_workspace,
    places,
    short,
)
from cadenza.cli.queue import tell_added
from cadenza.cli.show import echo, echo_ids, print_facts, print_json, print_table

if TYPE_CHECKING:
    from cadenza.client import types

app = App(name="post", help="Write posts, approve them, send them, take them back.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
States = Annotated[
    tuple[
        Literal[
            "draft",
            "scheduled",
            "publishing",
            "publishing_rest",
            "needs_check",
            "published",
            "partially_published",
            "failed",
            "missed",
        ],
        ...,
    ],
    Parameter(negative="", show_default=False),
]
Yes = Annotated[bool, Parameter(negative="", show_default=False)]


@app.command(name="list")
async def list_(
    *,
    state: States = (),
    account: str | None = None,
    search: str | None = None,
    rule: str | None = None,
    month: str | None = None,
    most: Count = 50,
    quiet: Quiet = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """List posts, the newest first.

    Parameters
    ----------
    state
        Only in this state, for example draft, scheduled or failed; may be said several times.
    account
        Only for this account: its id, its handle, or its network.
    search
        Only where every one of these words occurs.
    rule
        Only those that this rule made: its id or its name.
    month
        Only those that a rule made for this month, as in 2026-12.
    most
        At most so many.
    quiet
        Print the ids alone, one a line, for other commands.
    """
    async with opened_workspace(options) as home:
        account_id = None if account is None else (await find_account(home, account))["id"]
        rule_id = None if rule is None else find_named(await home.rules.list(), rule, "rule")["id"]
        listed = home.posts.list(
            state=list(state) or None,
            account_id=account_id,
            search=search,
            rule_id=rule_id,
            target_month=month,
            most=most,
        )
        found = [each async for each in listed]
    if quiet:
        echo_ids(found)
        return OK
    if options.json:
        print_json(found)
        return OK
    print_table(
        ("state", "goes out", "text", "id"),
        [(each["state"], _when(each), short(each["text"], 50), each["id"]) for each in found],
        empty="There is no such post.",
    )
    return OK


@app.command
async def show(post: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show a post and what became of it on each account."""
    async with opened_workspace(options) as home:
        found = await home.posts.show(post)
    if options.json:
        print_json(found)
        return OK
    print_facts(
        {
            "id": found["id"],
            "state": found["state"],
            "text": found["text"],
            "approved": "yes" if found["approved"] else "no",
            "needs": ", ".join(found["blockers"]),
            "revision": found["revision"],
        }
    )
    print_table(
        ("account", "channel", "state", "when", "delivery", ""),
        [
            (
                pill["handle"],
                pill["channel"],
                pill["label"],
                at(pill["at"], pill["zone"]),
                pill["delivery_id"],
                pill["url"] or pill["reason"] or "",
            )
            for pill in found["pills"]
        ],
        empty="It goes nowhere yet: `cadenza queue add` gives it a place.",
    )
    return OK


@app.command
async def create(
    text: str | None = None,
    /,
    *,
    title: str = "",
    hashtag: Many = (),
    link: str | None = None,
    label: Many = (),
    approve: bool | None = None,
    queue: Many = (),
    dry_run: Yes = False,
    quiet: Quiet = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Write a post; without a text, what comes in by the standard input.

    For example: `cadenza post create "We open at nine" --hashtag morning --queue mastodon`.

    Parameters
    ----------
    text
        What it says.
    title
        A title, where a channel shows one.
    hashtag
        May be said several times.
    link
        A link that goes with it.
    label
        May be said several times.
    approve
        Approve it at once, or leave it unapproved; unsaid, as the workspace does.
    queue
        Also add it to the queue of this account; may be said several times.
    dry_run
        Say what would happen, and change nothing.
    quiet
        Print its id alone, for other commands.
    """
    waits = text is None and sys.stdin.isatty()  # nobody would know what it waits for
    words = "" if waits else sys.stdin.read() if text is None else text
    if not words.strip():
        raise UsageError('a post says something: cadenza post create "hello"')
    content: dict[str, Any] = {"text": words, "title": title, "link": link, "approve": approve}
    content |= {"hashtags": list(hashtag), "labels": list(label)}
    async with opened_workspace(options) as home:
        ids = await find_accounts(home, queue)
        made = await home.posts.create(dry_run=dry_run, **content)
        if quiet:
            echo(made["id"])
        elif not options.json:
            echo(f"{'would make' if dry_run else 'made'} post {made['id']}")
            if made["why_not_approved"]:
                echo(f"it waits for an approval: {made['why_not_approved']}")
        if ids is None or dry_run:
            if options.json:
                print_json(made)
            return OK
        added = await home.queues.add_to_queue(post_id=made["id"], accounts=places(ids))
        names = {each["id"]: each["handle"] for each in await home.accounts.list()}
    if options.json:
        print_json({"post": made, "queue": added})
        return OK
    if quiet:
        return OK
    return tell_added(added, names, json=False)


@app.command
async def edit(
    post: str,
    text: str | None = None,
    /,
    *,
    title: str | None = None,
    hashtag: Many = (),
    link: str | None = None,
    revision: int | None = None,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Change what is given; an approval of what it said before is void then.

    Parameters
    ----------
    post
        The post's id.
    text
        What it says now.
    title
        Its title.
    hashtag
        Instead of those it has; may be said several times.
    link
        Its link.
    revision
        Only if it is still this one; without it, the one that is there now.
    dry_run
        Say what would happen, and change nothing.
    """
    said: dict[str, Any] = {"text": text, "title": title, "link": link}
    changes = {name: value for name, value in said.items() if value is not None}
    changes |= {"hashtags": list(hashtag)} if hashtag else {}
    if not changes:
        raise UsageError("say what to change: a text, --title, --hashtag or --link")
    async with opened_workspace(options) as home:
        seen = revision or (await home.posts.show(post))["revision"]
        saved = await home.posts.edit(post, dry_run=dry_run, revision=seen, **changes)
    if options.json:
        print_json(saved)
        return OK
    echo(f"{'would save' if dry_run else 'saved'} as revision {saved['revision']}")
    if saved["voided"]:
        echo("its approval is void: approve it again")
    return OK


@app.command
async def approve(
    post: str, /, *, revision: int | None = None, options: WorkspaceOptions = USUALLY
) -> int:
    """Approve what a post says now."""
    async with opened_workspace(options) as home:
        answer = await home.posts.approve(post, revision=revision)
    if options.json:
        print_json(answer)
        return OK
    echo("approved already" if answer["before"] else "approved")
    if answer["missed"]:
        echo(f"{len(answer['missed'])} of its times were past: give them new ones")
    return OK


@app.command(name="publish-now")
async def publish_now(
    post: str, /, *accounts: str, approve: Yes = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Send a post now.

    Parameters
    ----------
    post
        The post's id.
    accounts
        Ids, handles or networks; without any, where it goes anyway.
    approve
        Approve what it says now first.
    """
    async with opened_workspace(options) as home:
        ids = await find_accounts(home, accounts)
        send = home.posts.approve_and_publish_now if approve else home.posts.publish_post_now
        answer = await send(post, accounts=places(ids))
    if options.json:
        print_json(answer)
        return _refusals(answer)
    print_table(
        ("channel", "", "delivery", "warnings"),
        [
            (p["channel"], p["click"], p["delivery_id"], "\n".join(p["warnings"]))
            for p in answer["places"]
        ],
        empty="It goes nowhere.",
    )
    return _refusals(answer)


def _refusals(answer: Any) -> int:
    """Print which accounts refused; one that did makes the command fail, as when queueing."""
    for each in answer["refused"]:
        echo(each["message"])
    return REFUSED if answer["refused"] else OK


@app.command
async def schedule(
    post: str,
    time: datetime,
    /,
    *accounts: str,
    zone: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Give a post an instant of its own.

    For example: `cadenza post schedule POST 2031-05-04T09:00+02:00 mastodon`, or
    `… 2031-05-04T09:00 --zone Europe/Berlin`.

    Parameters
    ----------
    post
        The post's id.
    time
        With an offset, or a wall time of the zone.
    accounts
        Ids, handles or networks; without any, where it goes anyway.
    zone
        On the wall clock of this zone.
    """
    async with opened_workspace(options) as home:
        ids = await find_accounts(home, accounts)
        answer = await home.posts.schedule(post, at=time, zone=zone, accounts=places(ids))
    if options.json:
        print_json(answer)
        return _refusals(answer)
    for each in answer["places"]:
        if each["outcome"] == "timed":
            echo(f"{each['channel']}: {at(each['due_at'], each['zone'])}")
        else:
            echo(f"{each['channel']}: too late, it is {each['state']}")
    return _refusals(answer)


@app.command
async def retry(post: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Try again what failed of a post."""
    async with opened_workspace(options) as home:
        answer = await home.posts.retry(post)
    if options.json:
        print_json(answer)
    else:
        echo(f"{len(answer['deliveries'])} are tried again")
    return OK


@app.command
async def cancel(
    post: str, /, *, reason: str = "canceled by hand", options: WorkspaceOptions = USUALLY
) -> int:
    """Cancel a post; what is being sent right now may still arrive."""
    async with opened_workspace(options) as home:
        answer = await home.posts.cancel(post, reason=reason)
    if options.json:
        print_json(answer)
        return OK
    echo(f"canceled: {len(answer['canceled'])}")
    for each in answer["sending"]:
        echo(f"{each['channel']} is being sent right now")
    return OK


@app.command(name="import")
async def import_(
    file: Path,
    /,
    *,
    zone: str | None = None,
    all_or_nothing: Yes = False,
    dry_run: Yes = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Import posts from a CSV file; the same row makes one post, however often it is imported.

    For example: `cadenza post import posts.csv --dry-run`. The columns: text, accounts, when, and more.

    Parameters
    ----------
    file
        The CSV file.
    zone
        Of times without an offset; without it the workspace's.
    all_or_nothing
        One bad row, and nothing is imported.
    dry_run
        Report what would happen, and change nothing.
    """
    from cadenza.cli.posts_files import import_file

    return await import_file(
        options, file, zone=zone, all_or_nothing=all_or_nothing, dry_run=dry_run
    )


def _when(post: "types.PostView") -> str:
    return at(post["published_at"] or post["scheduled_at"])
