"""`cadenza queue`: an account's weekly slots, what stands in them, and every way to change the order."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, REFUSED, UsageError
from cadenza.cli.numbers import Count, SomeCount
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    at,
    find_account,
    find_accounts,
    opened_workspace,
    places,
    short,
)
from cadenza.cli.show import echo, print_json, print_table
from cadenza.client.errors import NotFound

if TYPE_CHECKING:
    from cadenza.client import types

app = App(name="queue", help="Look at queues, add posts, change their order and their weeks.")

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
DryRun = Annotated[bool, Parameter(negative="", show_default=False)]


@app.command
async def show(account: str, /, *, days: Count = 14, options: WorkspaceOptions = USUALLY) -> int:
    """Show the days ahead with their slots: filled, empty, skipped or held.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    days
        So many days.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        queue = await home.queues.show(found["id"], days=days)
        runway = await home.queues.show_runway(found["id"])
    if options.json:
        print_json({"queue": queue, "runway": runway})
        return OK
    echo(f"{found['handle']} on {found['provider']}, {queue['zone']}, {queue['now_there']} there")
    if queue["paused"]:
        until = (
            f" until {at(queue['paused_until'], queue['zone'])}" if queue["paused_until"] else ""
        )
        echo(f"PAUSED{until}: {queue['pause_reason']}")
    rows = [
        (
            at(line["at"], queue["zone"]),
            line["state"] or line["kind"],
            short(line["text"]) or line["note"] or "",
            (line["ids"] or [""])[0],
        )
        for day in queue["days"]
        for line in day["lines"]
    ]
    print_table(("when", "", "post", "delivery"), rows, empty="No slots in these days.")
    if runway["dry_at"]:
        echo(f"{runway['posts']} posts; it runs dry on {at(runway['dry_at'], queue['zone'])}")
    return OK


@app.command
async def add(
    post: str,
    /,
    *accounts: str,
    to: Literal["first_free", "end", "next"] = "first_free",
    time: Annotated[datetime | None, Parameter(name="--at")] = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Give a post a place in the queues of accounts; without any, those used last.

    For example: `cadenza queue add POST mastodon --to next`.

    Parameters
    ----------
    post
        The post's id.
    accounts
        Ids, handles or networks.
    to
        The first free slot, behind everything, or in front of everything.
    time
        An instant of its own instead, with an offset.
    dry_run
        Say what would happen, and change nothing.
    """
    async with opened_workspace(options) as home:
        ids = await find_accounts(home, accounts)
        answer = await home.queues.add_to_queue(
            post_id=post, accounts=places(ids), to=to, at=time, dry_run=dry_run
        )
        names = {each["id"]: each["handle"] for each in await home.accounts.list()}
    return tell_added(answer, names, json=options.json)


def tell_added(answer: "types.AddedView", names: dict[str, str], *, json: bool) -> int:
    """Tell where a post went; an account that had no room is a refusal."""
    refused = [each for each in answer["answers"] if each["outcome"] == "not_queued"]
    if json:
        print_json(answer)
        return REFUSED if refused else OK
    for each in answer["answers"]:
        name = names.get(each["account_id"], each["account_id"])
        match each["outcome"]:
            case "queued":
                echo(f"{name}: {at(each['at'], each['zone'])}")
                for warning in each["warnings"]:
                    echo(f"  warning: {warning}")
            case "already_queued":
                echo(f"{name}: it is there already, {at(each['at'])}")
            case _:
                echo(f"{name}: no place: {each['message']}")
    if answer["dry_run"]:
        echo("(a dry run: nothing was changed)")
    return REFUSED if refused else OK


@app.command
async def move(
    account: str,
    delivery: str,
    /,
    *,
    before: str | None = None,
    after: str | None = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Move one before or after another.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    delivery
        The delivery's id, as `queue show` prints it.
    before
        In front of this one.
    after
        Behind this one.
    dry_run
        Say what would move, and change nothing.
    """
    if (before is None) == (after is None):
        raise UsageError("say either --before or --after, with a delivery's id")
    order: types.Move = {"verb": "move", "id": delivery, "before": before, "after": after}
    return await _order(options, account, order, dry_run=dry_run)


@app.command
async def top(
    account: str, delivery: str, /, *, dry_run: DryRun = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Let one go next."""
    return await _order(options, account, {"verb": "to_top", "id": delivery}, dry_run=dry_run)


@app.command
async def swap(
    account: str,
    one: str,
    other: str,
    /,
    *,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Let two change places."""
    return await _order(options, account, {"verb": "swap", "ids": (one, other)}, dry_run=dry_run)


@app.command
async def shuffle(
    account: str,
    /,
    *,
    seed: str = "cadenza",
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Mix the order; the same seed mixes alike, so a dry run shows what comes."""
    return await _order(options, account, {"verb": "shuffle", "seed": seed}, dry_run=dry_run)


@app.command
async def reverse(
    account: str, /, *, dry_run: DryRun = False, options: WorkspaceOptions = USUALLY
) -> int:
    """Reverse order."""
    return await _order(options, account, {"verb": "reverse"}, dry_run=dry_run)


@app.command
async def skip(
    account: str,
    /,
    *,
    count: Count = 1,
    reason: str | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Leave out the next slots; what stood in them moves on."""
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queue_order.skip_slots(found["id"], count=count, reason=reason)
    _moved(answer, found, json=options.json)
    return OK


@app.command
async def unskip(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Offer the slots again that were left out."""
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queue_order.lift_skips(found["id"])
    _moved(answer, found, json=options.json)
    return OK


@app.command
async def pause(
    account: str,
    /,
    *,
    reason: str,
    until: datetime | None = None,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Let nothing of the queue be sent; adding and reordering still work."""
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queues.pause(found["id"], reason=reason, until=until)
    if options.json:
        print_json(answer)
        return OK
    echo(f"{found['handle']} is paused: {reason}")
    if answer["under_way"]:
        echo(f"{answer['under_way']} were under way and still go out")
    return OK


@app.command
async def resume(
    account: str,
    /,
    *,
    choice: Literal["shift", "send", "draft"] = "shift",
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Let the queue send again.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    choice
        What becomes of what came due meanwhile: shift moves all on, send lets it go one after another,
        draft takes it back.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queues.resume(found["id"], choice=choice)
    if not options.json:
        echo(f"{found['handle']} sends again; {len(answer['held'])} came due meanwhile")
    _moved(answer, found, json=options.json)
    return OK


@app.command
async def clear(
    account: str,
    /,
    *,
    by_hand: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Take everything off the queue; `queue undo` brings it back for ten minutes.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    by_hand
        Also what was timed by hand.
    dry_run
        Say what would go, and change nothing.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queues.clear(found["id"], by_hand=by_hand, dry_run=dry_run)
    if options.json:
        print_json(answer)
        return OK
    echo(f"{len(answer['canceled'])} were taken off the queue of {found['handle']}")
    if answer["clear_id"] and not dry_run:
        echo(
            f"take it back until {at(answer['undo_until'])}: cadenza queue undo {answer['clear_id']}"
        )
    return OK


@app.command
async def undo(clear_id: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Bring back what was cleared."""
    async with opened_workspace(options) as home:
        answer = await home.queues.undo_clear(clear_id)
    if options.json:
        print_json(answer)
        return OK
    echo(f"{len(answer['restored'])} stand where they stood")
    for id_, why in answer["lost"]:
        echo(f"{id_} does not: {why}")
    return REFUSED if answer["lost"] else OK


@app.command
async def schedule(
    account: str,
    /,
    *,
    slot: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    renamed: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    how: Literal["follow", "keep", "reflow"] | None = None,
    zone: str | None = None,
    max_per_day: SomeCount = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Show an account's weekly slots, or set them.

    For example: `cadenza queue schedule mastodon --slot monday=09:00,17:30 --slot friday=12:00`.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    slot
        A weekday with times, for example monday=09:00,17:30; may be said several times. Days that
        are not named have no slots then.
    renamed
        A time that became another of its day, for example monday=09:00,17:30; its posts go along. May be
        said several times; left out, times that went are paired with the nearest that came.
    how
        What becomes of queued posts: they follow their slot, keep their instant, or are laid out again.
    zone
        The zone of the times.
    max_per_day
        At most so many a day.
    dry_run
        Say what would move, and change nothing.
    """
    slots = _slots(slot)
    moved = _renamed(renamed)
    said: dict[str, Any] = {"zone": zone, "max_per_day": max_per_day}
    changes = {name: value for name, value in said.items() if value is not None}
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        try:
            week = await home.queues.show_schedule(found["id"])
        except NotFound:
            if not slots:
                raise
            week = await home.queues.create_schedule(
                found["id"], slots=slots, dry_run=dry_run, **changes
            )
            slots, changes = {}, {}
        if slots or changes:
            changes |= {"slots": slots} if slots else {}
            changes |= {"renamed": moved} if moved else {}
            changes |= {"how": how} if how else {}
            answer = await home.queues.change_schedule(found["id"], dry_run=dry_run, **changes)
            _moved(answer, found, json=options.json)
            return OK
    if options.json:
        print_json(week)
        return OK
    print_table(
        ("day", f"times ({week['zone']})"),
        [
            (DAYS[int(day)], ", ".join(map(_time, times)))
            for day, times in sorted(week["slots_by_day"].items())
            if times
        ],
        empty="It has no slots.",
    )
    return OK


def _time(slot: dict[str, Any]) -> str:
    return f"{slot['hour']:02}:{slot['minute']:02}"


def _slots(words: tuple[str, ...]) -> dict[str, list[str]]:
    slots: dict[str, list[str]] = {}
    for word in words:
        day, times = _day_and_times(word)
        if day is None or not times:
            raise UsageError(f"--slot {word} says no day and times: write monday=09:00,17:30")
        slots.setdefault(str(day), []).extend(times)
    return slots


def _renamed(words: tuple[str, ...]) -> list[dict[str, Any]]:
    renamed: list[dict[str, Any]] = []
    for word in words:
        day, times = _day_and_times(word)
        if day is None or len(times) != 2:
            raise UsageError(f"--renamed {word} says no two times: write monday=09:00,17:30")
        renamed.append({"day": day, "was": times[0], "now": times[1]})
    return renamed


def _day_and_times(word: str) -> tuple[int | None, list[str]]:
    day, _, times = word.partition("=")
    fitting = [
        number for number, name in enumerate(DAYS) if name.casefold().startswith(day.casefold())
    ]
    return (fitting[0] if len(fitting) == 1 else None), [
        time.strip() for time in times.split(",") if time.strip()
    ]


async def _order(
    options: WorkspaceOptions, account: str, order: "types.OrderInput", *, dry_run: bool
) -> int:
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.queue_order.change_order(found["id"], order, dry_run=dry_run)
    _moved(answer, found, json=options.json)
    return OK


def _moved(answer: Any, account: "types.Account", *, json: bool) -> None:
    if json:
        print_json(answer)
        return
    moved = answer.get("moved", answer.get("moves", []))
    print_table(
        ("delivery", "was", "is now"),
        [
            (each["id"], at(each["was_at"], account["zone"]), at(each["now_at"], account["zone"]))
            for each in moved
        ],
        empty="Nothing had to move.",
    )
    for each in answer.get("stays", []):
        echo(f"{each['id']} stays: {each['why']}")
    if answer.get("dry_run"):
        echo("(a dry run: nothing was changed)")
