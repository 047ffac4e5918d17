"""`cadenza rule`: what lays out drafts by the week or the month, tried before it is saved."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import (
    USUALLY,
    WorkspaceOptions,
    at,
    find_accounts,
    find_named,
    opened_workspace,
    places,
)
from cadenza.cli.show import echo, print_json, print_table
from cadenza.core.clock import SystemClock
from cadenza.core.suggest import did_you_mean

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Workspace

app = App(name="rule", help="Look at rules, make and change them, lay out what is missing.")

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
DryRun = Annotated[bool, Parameter(negative="", show_default=False)]
DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


@app.command(name="list")
async def list_(*, options: WorkspaceOptions = USUALLY) -> int:
    """List the rules."""
    async with opened_workspace(options) as home:
        rules = await home.rules.list()
        names = {each["id"]: each["name"] for each in await home.categories.list()}
    if options.json:
        print_json(rules)
        return OK
    print_table(
        ("name", "category", "when", "state", "id"),
        [(r["name"], names.get(r["category_id"]), _when(r), r["state"], r["id"]) for r in rules],
        empty="There is no rule yet: `cadenza rule create` makes one.",
    )
    return OK


@app.command
async def create(
    name: str,
    /,
    *,
    category: str,
    day: Many,
    time: Many,
    account: Many,
    zone: str | None = None,
    starts: str | None = None,
    media: bool = True,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Make a weekly rule; --dry-run says what it would lay out.

    For example: `cadenza rule create Mondays --category Openings --day monday --time 09:00 --account mastodon`.

    Parameters
    ----------
    name
        What it is called.
    category
        Where its words and pictures come from: a category's name or id.
    day
        A weekday, for example monday; may be said several times.
    time
        A time of day, for example 09:30; may be said several times.
    account
        Where it goes: id, handle or network; may be said several times.
    zone
        The zone of the times; without it the workspace's.
    starts
        The first day; without it today.
    media
        Whether each post needs a picture of the category's pool.
    dry_run
        Say what would be laid out, and change nothing.
    """
    async with opened_workspace(options) as home:
        targets = places(await find_accounts(home, account))
        answer = await home.rules.make(
            dry_run=dry_run,
            name=name,
            category_id=await _category(home, category),
            pattern={"kind": "weekly", "weekdays": _days(day), "times": list(time)},
            zone=zone or (await home.itself.show())["zone"],
            starts=starts or SystemClock().now().date().isoformat(),
            targets=targets,
            needs_media=media,
        )
    return _print_outcome(answer, json=options.json)


@app.command
async def edit(
    rule: str,
    /,
    *,
    name: str | None = None,
    day: Many = (),
    time: Many = (),
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Change a rule; posts that somebody touched stay as they are.

    Parameters
    ----------
    rule
        Its id or name.
    name
        What it is called now.
    day
        These weekdays instead; may be said several times.
    time
        These times instead; may be said several times.
    dry_run
        Say what would become of its posts, and change nothing.
    """
    async with opened_workspace(options) as home:
        known = await _find(home, rule)
        left_out = ("id", "state", "dry_run")
        form: dict[str, Any] = {k: v for k, v in known.items() if k not in left_out}
        pattern = dict(form["pattern"])
        pattern |= {"weekdays": _days(day)} if day else {}
        pattern |= {"times": list(time)} if time else {}
        form |= {"pattern": pattern, "name": name or known["name"]}
        answer = await home.rules.change(known["id"], dry_run=dry_run, **form)
    return _print_outcome(answer, json=options.json)


@app.command
async def pause(rule: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let a rule lay out nothing more; what is laid out stays."""
    async with opened_workspace(options) as home:
        answer = await home.rules.pause((await _find(home, rule))["id"])
    return _print_outcome(answer, json=options.json)


@app.command
async def resume(rule: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Let a rule lay out again."""
    async with opened_workspace(options) as home:
        answer = await home.rules.resume((await _find(home, rule))["id"])
    return _print_outcome(answer, json=options.json)


@app.command
async def generate(*, options: WorkspaceOptions = USUALLY) -> int:
    """Lay out what is missing of all rules, now; it happens every night by itself."""
    async with opened_workspace(options) as home:
        made = await home.rules.generate()
    if options.json:
        print_json(made)
        return OK
    echo(f"{made['posts']} drafts were laid out")
    if made["without_media"]:
        echo(f"{made['without_media']} of them still need a picture: fill the category's pool")
    if not made["complete"]:
        echo("there is more to do than fitted in: call it again")
    return OK


def _print_outcome(answer: "types.RuleSaved", *, json: bool) -> int:
    if json:
        print_json(answer)
        return OK
    rule, plan = answer["rule"], answer["plan"]
    echo(f"{rule['name']} ({rule['id']}): {_when(rule)}, {rule['state']}")
    rows = [
        *(("lay out", at(each["at"], rule["zone"]), "") for each in plan["added"]),
        *(
            (
                "move",
                at(each["post"]["at"], rule["zone"]),
                f"to {at(each['to']['at'], rule['zone'])}",
            )
            for each in plan["moved"]
        ),
        *(("take away", at(each["at"], rule["zone"]), "") for each in plan["removed"]),
        *(("keep", at(each["at"], rule["zone"]), each["because"] or "") for each in plan["kept"]),
    ]
    print_table(("", "post of", ""), rows, empty="Nothing changes for its posts.")
    if answer["dry_run"]:
        echo("(a dry run: nothing was changed)")
    elif plan["added"]:
        echo("laid out tonight, or now by `cadenza rule generate`")
    return OK


async def _find(home: "Workspace", name: str) -> "types.RuleView":
    return find_named(await home.rules.list(), name, "rule")


async def _category(home: "Workspace", name: str) -> str:
    return find_named(await home.categories.list(), name, "category")["id"]


def _days(words: tuple[str, ...]) -> list[int]:
    numbers: list[int] = []
    for word in words:
        fitting = [n for n, day in enumerate(DAYS) if day.startswith(word.casefold())]
        if len(fitting) != 1:
            raise UsageError(f"{word!r} is no weekday.{did_you_mean(word, DAYS)}")
        numbers += fitting
    return numbers


def _when(rule: "types.RuleView") -> str:
    pattern = rule["pattern"]
    days = ", ".join(DAYS[int(day)].capitalize() for day in pattern.get("weekdays", []))
    times = ", ".join(map(str, pattern.get("times", [])))
    return f"{days or pattern['kind']} {times} ({rule['zone']})".strip()
