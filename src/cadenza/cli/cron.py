"""`cadenza cron`: what an expression means, and when it comes, clock changes marked."""

from datetime import datetime

from cyclopts import App

from cadenza.cli.numbers import Count
from cadenza.cli.show import echo, print_json, print_table, when
from cadenza.core.clock import SystemClock
from cadenza.core.recurrence import by_cron
from cadenza.core.recurrence import preview as occurrences
from cadenza.core.zones import Fold, Gap, Mark, Resolved, as_utc, get_zone, resolve, tz_version

app = App(name="cron", help="Read cron expressions and preview them.")

_MARKS = {
    Mark.NONE: "",
    Mark.GAP: "this wall time does not exist that day",
    Mark.FOLD: "this wall time comes twice that day",
}


@app.command
def preview(
    expression: str,
    /,
    *,
    zone: str = "UTC",
    count: Count = 10,
    after: datetime | None = None,
    gap: Gap = Gap.SHIFT,
    fold: Fold = Fold.FIRST,
    json: bool = False,
) -> None:
    """Show when a cron expression comes next: `cadenza cron preview "30 2 * * *" --zone Europe/Berlin`.

    Parameters
    ----------
    expression
        Five fields, or six with seconds first, or a macro such as @daily.
    zone
        On the wall clock of this zone.
    count
        So many occurrences.
    after
        After this time instead of now; without an offset it is a wall time of the zone.
    gap
        What becomes of a wall time that does not exist: shift it, skip it, or take the next that does.
    fold
        Which of the two a repeated wall time means.
    json
        Print JSON, for programs.
    """
    recurrence = by_cron(expression, zone, gap=gap, fold=fold)
    start = SystemClock().now() if after is None else _instant(after, zone)
    found = occurrences(recurrence, start, count)
    assert recurrence.cron is not None
    meaning = recurrence.cron.describe()
    if json:
        shown = [{"at": p.instant, "wall": p.wall.isoformat(), "mark": p.mark} for p in found]
        print_json(
            {"expression": expression, "meaning": meaning, "zone": zone, "occurrences": shown}
        )
        return
    echo(f"{expression}: {meaning} ({zone}, tz database {tz_version()})")
    rows = [
        (when(p.instant, None), f"{p.wall:%a %Y-%m-%d %H:%M:%S %Z}", _MARKS[p.mark]) for p in found
    ]
    print_table(("UTC", zone, ""), rows, empty="it never comes again")


def _instant(after: datetime, zone: str) -> datetime:
    if after.tzinfo is not None:
        return as_utc(after)
    resolved: Resolved = resolve(after.date(), after.time(), get_zone(zone))
    return resolved.instants[0]
