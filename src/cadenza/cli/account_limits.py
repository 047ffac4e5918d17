"""`cadenza account limits`, `limit`, `set`: how much an account may send, when, and on which days.

A limit counts one action (post, email, message, …, or * for all) in one period; `gap` is the time between two.
Limits are proven by `cadenza limits audit`.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from cadenza.cli.codes import OK, UsageError
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, find_account, opened_workspace
from cadenza.cli.show import echo, print_facts, print_json, print_table
from cadenza.core.suggest import did_you_mean

if TYPE_CHECKING:
    from cadenza.client import types

Many = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
DryRun = Annotated[bool, Parameter(negative="", show_default=False)]
Action = Literal["post", "email", "message", "connection_request", "inmail", "broadcast", "*"]
KINDS = ("hour", "day", "week", "rolling_day", "rate", "gap")
DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_limits(app: App) -> None:
    """Hang the commands on the group of accounts."""
    app.command(limits)
    app.command(limit)
    app.command(set_, name="set")
    app.command(holidays)


async def limits(account: str, /, *, options: WorkspaceOptions = USUALLY) -> int:
    """Show what limits an account, and how much of it is used.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        answer = await home.accounts.list_limits(found["id"])
        used = await home.account_use.show_use(found["id"])
    if options.json:
        print_json({**answer, **{name: found[name] for name in ("zone", "hours", "holidays")}})
        return OK
    echo(f"{found['handle']} on {found['provider']}")
    print_facts(limited(found))
    uses: dict[Any, Any] = {(u["limit"]["action"], u["limit"]["kind"]): u for u in used["uses"]}
    print_table(
        ("action", "limit", "used of it", "today"),
        [
            (each["action"], describe_limit(each), use.get("used"), today_of(use))
            for each in answer["limits"]
            for use in [uses.get((each["action"], each["kind"]), {})]
        ],
        empty="Nothing limits it but the network itself: `cadenza account limit` sets something.",
    )
    return OK


async def limit(
    account: str,
    action: Action,
    /,
    *amounts: str,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Set limits of an account for one action; limits that are not named stay.

    For example: `cadenza account limit mastodon post day=10 gap=30m`, or `… post day=none`.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    action
        What is counted; * is all of it together.
    amounts
        hour=N, day=N, week=N, rolling_day=N, rate=N/SECONDS, gap=TIME (90, 90s, 15m, 2h); =none takes it away.
    dry_run
        Say what would be, and change nothing.
    """
    if not amounts:
        raise UsageError("say what to set: cadenza account limit ACCOUNT post day=10 gap=30m")
    changes = dict(read_amount(action, word) for word in amounts)
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        now = await home.accounts.list_limits(found["id"])
        kept: list[Any] = [
            each
            for each in now["limits"]
            if each["action"] != action or each["kind"] not in changes
        ]
        new = [each for each in changes.values() if each is not None]
        answer = await home.accounts.set_limits(found["id"], limits=[*kept, *new], dry_run=dry_run)
    if options.json:
        print_json(answer)
        return OK
    print_table(
        ("action", "limit"),
        [(each["action"], describe_limit(each)) for each in answer["limits"]],
        empty="Nothing limits it but the network itself.",
    )
    if dry_run:
        echo("(a dry run: nothing was changed)")
    return OK


async def set_(
    account: str,
    /,
    *,
    zone: str | None = None,
    hours: Many = (),
    holiday: Many = (),
    no_holidays: DryRun = False,
    holiday_calendar: Many = (),
    no_holiday_calendars: DryRun = False,
    grace_minutes: int | None = None,
    unconfirmed: Literal["ask", "assume_sent"] | None = None,
    label: Many = (),
    no_labels: DryRun = False,
    warm_up: Many = (),
    no_warm_up: DryRun = False,
    bulk: Annotated[bool | None, Parameter(show_default=False)] = None,
    from_name: str | None = None,
    reply_to: str | None = None,
    signature: str | None = None,
    bounce_percent: float | None = None,
    complaint_percent: float | None = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Change an account's zone, hours, holidays, how late it may send, and what becomes of doubts.

    For example: `cadenza account set mastodon --hours post=08:00-20:00 --hours email=09:00-17:00@mon-fri`.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    zone
        The zone of its days and hours, for example Europe/Berlin.
    hours
        ACTION=FROM-TO, with @DAYS behind it (mon-fri, or sat,sun; without it every day); ACTION=always
        is open always. May be said several times; actions that are not named have their usual hours.
    holiday
        A day on which nothing is sent, for example 2026-12-25; may be said several times. They replace
        those that were set.
    no_holidays
        Take all holidays away.
    holiday_calendar
        A country whose public holidays it keeps: DE, or DE-BY for a part of one. May be said several times;
        they replace those that were set.
    no_holiday_calendars
        Keep no country's holidays.
    grace_minutes
        What is later than this is not sent but shown as missed.
    unconfirmed
        What becomes of a post whose answer got lost: ask a person, or take it as sent.
    label
        A label by which sequences choose it; may be said several times. They replace those that were set.
    no_labels
        Take all labels away.
    warm_up
        ACTION=START+STEP, such as email=5+2: five a day at first, two more after each active day, up to the
        limit; email=5+2/3 after every third. May be said several times; they replace those that were set.
    no_warm_up
        End all warm-ups.
    bulk
        It is made for many, such as a mail relay: campaigns by it keep no limits of mail by hand.
    from_name
        The name that its mails come from; "" takes it away.
    reply_to
        The address that answers to its mails go to; "" takes it away.
    signature
        Plain text below every mail; "" takes it away. @FILE reads it from a file.
    bounce_percent
        It is suspended when so many of its mails of 30 days went to addresses that do not exist (2).
    complaint_percent
        It is suspended when so many recipients of 30 days called its mails spam (0.3).
    dry_run
        Say what would be, and change nothing.
    """
    changes: dict[str, Any] = {
        "zone": zone,
        "hours": dict(read_hours(word) for word in hours) or None,
        "holidays": list(holiday) if holiday or no_holidays else None,
        "holiday_calendars": list(holiday_calendar)
        if holiday_calendar or no_holiday_calendars
        else None,
        "grace_minutes": grace_minutes,
        "unconfirmed_policy": unconfirmed,
        "labels": list(label) if label or no_labels else None,
        "warm_up": dict(read_warm_up(word) for word in warm_up) if warm_up or no_warm_up else None,
        "bulk": bulk,
        "from_name": from_name,
        "reply_to": reply_to,
        "signature": _read_signature(signature),
    }
    health = {"bounce_percent": bounce_percent, "complaint_percent": complaint_percent}
    health = {name: value for name, value in health.items() if value is not None}
    said: Any = {name: value for name, value in changes.items() if value is not None}
    if not said and not health:
        raise UsageError("say what to change: --zone, --hours, --holiday, … (see --help)")
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        if health:
            said["health"] = {**found["health"], **health}
        answer = await home.accounts.change(found["id"], dry_run=dry_run, **said)
    if options.json:
        print_json(answer)
        return OK
    print_facts(limited(answer))
    if dry_run:
        echo("(a dry run: nothing was changed)")
    return OK


def _read_signature(said: str | None) -> str | None:
    if said is None or not said.startswith("@"):
        return said
    try:
        return Path(said[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{said[1:]} cannot be read as text: {error}") from error


async def holidays(
    account: str,
    /,
    *,
    ics: Annotated[Path | None, Parameter(show_default=False)] = None,
    dry_run: DryRun = False,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """List an account's holidays of the next year, or add the whole days of a calendar file.

    Parameters
    ----------
    account
        Its id, its handle, or its network.
    ics
        A calendar file (iCalendar): its whole days are added.
    dry_run
        Say what would be added, and change nothing.
    """
    async with opened_workspace(options) as home:
        found = await find_account(home, account)
        if ics is not None:
            text = ics.read_text(encoding="utf-8-sig")
            made: Any = await home.account_holidays.import_holidays(
                found["id"], ics=text, dry_run=dry_run
            )
            days: Any = made["added"]
        else:
            made = days = await home.account_holidays.list_holidays(found["id"])
    if options.json:
        print_json(made)
        return OK
    print_table(
        ("day", "name", "calendar"),
        [(each["day"], each["name"], each["calendar"]) for each in days],
        empty="It keeps no holidays: `cadenza account set ACCOUNT --holiday-calendar DE` adds some."
        if ics is None
        else "Nothing was added.",
    )
    if ics is not None:
        echo(f"{len(days)} {'would be ' if dry_run else ''}added, {made['there_already']} known")
        if made["left_out"]:
            echo(f"{made['left_out']} events are no whole days")
    return OK


def limited(account: "types.Account") -> dict[str, object]:
    """Word zone, hours and holidays of an account."""
    hours = "\n".join(f"{name}: {_open(each)}" for name, each in account["hours"].items())
    return {
        "zone": account["zone"],
        "hours": hours,
        "holidays": ", ".join([*account["holidays"], *account["holiday_calendars"]]),
        "labels": ", ".join(account["labels"]),
        "warm-up": ", ".join(
            f"{action}: {_warming(each)}" for action, each in account["warm_up"].items()
        ),
        "not sent if later than": f"{account['grace_minutes']} minutes",
        "unconfirmed": account["unconfirmed_policy"].replace("_", " "),
        "made for many": "yes" if account["bulk"] else "no",
    }


def _warming(warm_up: "types.WarmUp") -> str:
    every = warm_up.get("every", 1)
    days = "each active day" if every == 1 else f"every {every} active days"
    return f"{warm_up['start']} a day, {warm_up['step']} more after {days}"


def describe_limit(limit: "types.Limit") -> str:
    """Word one limit."""
    if limit["kind"] == "gap":
        return f"at least {limit['amount']} s between two"
    if limit["kind"] == "rate":
        return f"{limit['amount']} in {limit.get('per_seconds') or 1} s"
    return f"{limit['amount']} per {limit['kind'].replace('_', ' ')}"


def read_amount(action: str, word: str) -> "tuple[str, Any]":
    """Read `day=10`, `rate=5/60`, `gap=15m` or `week=none`."""
    kind, _, amount = word.partition("=")
    if kind not in KINDS or not amount:
        guess = did_you_mean(kind, KINDS) if kind not in KINDS else ""
        raise UsageError(f"{word!r} says no limit: write day=10, rate=5/60s or gap=15m.{guess}")
    if amount == "none":
        return kind, None
    made: Any = {"action": action, "kind": kind}
    if kind == "rate":
        count, _, per = amount.partition("/")
        return kind, {**made, "amount": _number(count, word), "per_seconds": _seconds(per, word)}
    return kind, {**made, "amount": (_seconds if kind == "gap" else _number)(amount, word)}


def read_warm_up(word: str) -> "tuple[str, dict[str, int]]":
    """Read `email=5+2`, or `email=5+2/3` for every third active day."""
    found = re.fullmatch(r"(\w+)=(\d+)\+(\d+)(?:/(\d+))?", word)
    if found is None:
        raise UsageError(f"--warm-up {word} says no warm-up: write email=5+2")
    return found[1], {"start": int(found[2]), "step": int(found[3]), "every": int(found[4] or 1)}


def today_of(use: dict[str, Any]) -> str | None:
    """Word what holds today, where it is less than the limit."""
    if use.get("holds") is None:
        return None
    return f"{use['holds']} ({use['lowered_by']})"


def read_hours(word: str) -> "tuple[str, dict[str, Any] | None]":
    """Read `post=09:00-17:00@mon-fri` or `post=always`."""
    action, _, said = word.partition("=")
    if said == "always":
        return action, None
    times, _, days = said.partition("@")
    start, _, end = times.partition("-")
    if not (action and start and end):
        raise UsageError(f"--hours {word} says no hours: write post=09:00-17:00@mon-fri")
    return action, {"start": start, "end": end, "days": read_days(days) if days else [*range(7)]}


def read_days(words: str) -> list[int]:
    """Read `mon-fri` or `sat,sun`; Sunday is 0."""
    found: list[int] = []
    for word in words.split(","):
        first, _, last = word.partition("-")
        day, end = _day(first), _day(last or first)
        found.append(day)
        while day != end:
            day = (day + 1) % 7
            found.append(day)
    return sorted(set(found))


def _day(word: str) -> int:
    fitting = [n for n, day in enumerate(DAYS) if word and day.startswith(word.casefold())]
    if len(fitting) != 1:
        raise UsageError(f"{word!r} is no weekday.{did_you_mean(word, DAYS)}")
    return fitting[0]


def _number(text: str, word: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{word!r} holds no whole number")
    return int(text)


def _seconds(text: str, word: str) -> int:
    found = re.fullmatch(r"(\d+)([smhd]?)", text)
    if found is None:
        raise UsageError(f"{word!r} holds no time: write 90, 90s, 15m or 2h")
    return int(found[1]) * SECONDS[found[2]]


def _open(hours: "types.Hours | None") -> str:
    if hours is None:
        return "always"
    days = hours.get("days", [1, 2, 3, 4, 5])
    names = "every day" if len(days) == 7 else ", ".join(DAYS[day][:3].capitalize() for day in days)
    return f"{hours['start'][:5]}-{hours['end'][:5]} {names}"
