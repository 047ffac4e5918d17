"""Write a run as Markdown: one table a store, ratios to the raw limit and each peer, the bars.

Cells are medians with [lowest–highest]. A tilde marks a cell during which other processes took
more than 0.06 core; a dash means that the system cannot do it, or that no round was valid.
"""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.bars import (
    Bar,
    Judge,
    judge_peers,
    judge_postgres,
    judge_soundness,
    judge_sqlite,
)
from bench.catalogue import SYSTEMS, Store, System
from bench.measure import Spread
from bench.rounds import Plan, Results

RATES = {
    "one": "enqueue 1",
    "bulk": "bulk",
    "drain_1": "drain, 1 worker",
    "drain_2": "drain, 2 workers",
}
WAITS = {
    "pickup_p50": "pick-up p50, ms",
    "pickup_p99": "pick-up p99, ms",
    "late_p50": "late p50, ms",
    "late_p99": "late p99, ms",
    "rss": "idle MB",
    "cpu": "idle CPU, %",
}
GROWN = {
    "grow_1k": "1 k behind",
    "grow_100k": "100 k behind",
    "grow_1m": "1 M behind",
    "deferred_1m": "1 M deferred",
    "claim_free": "claim, ms",
    "claim_held": "claim, old transaction, ms",
    "wait_free": "pick-up, ms",
    "wait_held": "pick-up, old transaction, ms",
}
TITLES: dict[Store, str] = {
    "postgres": "PostgreSQL",
    "sqlite": "SQLite, WAL, synchronous=FULL",
    "valkey": "Valkey, nothing kept on disk",
    "mongo": "MongoDB",
}


def figure(value: float, metric: str) -> str:
    """Write a number with as many digits as mean something."""
    if metric in RATES or metric.startswith(("grow", "deferred")):
        return f"{value:,.0f}"
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def cell(results: Results, system: System, metric: str) -> str:
    """Write one cell of a table."""
    spread = results.spread(system.name, metric)
    if spread is None:
        return "–"
    tilde = "~" if results.loud(system.name, metric) else ""
    low, high = figure(spread.low, metric), figure(spread.high, metric)
    return f"{tilde}{figure(spread.median, metric)} [{low}–{high}]"


def table(results: Results, systems: Sequence[System], metrics: dict[str, str]) -> list[str]:
    """Write one table; leave out rows and columns without any figure."""
    shown = {
        m: head for m, head in metrics.items() if any(results.spread(s.name, m) for s in systems)
    }
    rows = [s for s in systems if any(results.spread(s.name, m) for m in shown)]
    if not rows:
        return []
    lines = [f"| system | {' | '.join(shown.values())} |", f"|---|{'---:|' * len(shown)}"]
    for system in rows:
        name = f"**{system.label}**" if system.role == "ours" else system.label
        lines.append(
            f"| {name} | {' | '.join(cell(results, system, metric) for metric in shown)} |"
        )
    return [*lines, ""]


def ratio(ours: Spread | None, theirs: Spread | None) -> str:
    """Write how many times the other's median ours is."""
    return (
        "–"
        if ours is None or theirs is None or not theirs.median
        else f"{ours.median / theirs.median:.2f}x"
    )


def ratios(results: Results, store: Store) -> list[str]:
    """Write our medians as multiples of every other system's."""
    ours = [s for s in SYSTEMS if s.store == store and s.role == "ours"]
    others = [s for s in SYSTEMS if s.store == store and s.role != "ours"]
    lines: list[str] = []
    for system in ours:
        if not any(results.spread(system.name, metric) for metric in RATES):
            continue
        lines += [f"{system.label} as a multiple of:", ""]
        lines += [f"| system | {' | '.join(RATES.values())} |", f"|---|{'---:|' * len(RATES)}"]
        for other in others:
            cells = [
                ratio(results.spread(system.name, m), results.spread(other.name, m)) for m in RATES
            ]
            lines.append(f"| {other.label} | {' | '.join(cells)} |")
        lines.append("")
    return lines


def bar_table(bars: Sequence[Bar]) -> list[str]:
    """Write verdicts."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    lines = ["| bar | verdict | figures |", "|---|---|---|"]
    lines += [f"| {bar.text} | {words[bar.met]} | {bar.figures} |" for bar in bars]
    return [*lines, ""]


def all_bars(results: Results) -> list[str]:
    """Judge every promise."""
    judge = Judge(results)
    lines = ["## Bars", "", "PostgreSQL", ""]
    lines += bar_table(judge_postgres(judge, "cadenza_postgres", "cadenza_postgres_kept"))
    lines += ["SQLite", "", *bar_table(judge_sqlite(judge, "cadenza_sqlite"))]
    lines += ["Redis", "", *bar_table(judge_peers(judge, "cadenza_redis", "valkey"))]
    lines += ["MongoDB", "", *bar_table(judge_peers(judge, "cadenza_mongo", "mongo"))]
    return [*lines, "All", "", *bar_table([judge_soundness(results)])]


def machine() -> str:
    """Describe the machine in one line."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    cores = len(
        [
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("processor")
        ]
    )
    return f"{model}, {cores} cores, Linux {platform.release()}, Python {platform.python_version()}"


def write_report(results: Results, plan: Plan, *, postgres: str, seconds: float) -> str:
    """Return the whole report."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    rounds = ", ".join(f"{work} {plan.rounds[work]}" for work in plan.works)
    intro = (
        f"{when}; {machine()}; PostgreSQL {postgres} with fsync on. Interleaved "
        f"rounds: {rounds}; {seconds / 60:.0f} minutes. "
        "No-op jobs with a 100-byte payload; rates are jobs a second; medians with "
        "[lowest–highest] round. `~`: other processes took more than 0.06 core meanwhile. "
        "`python -m bench` makes this page."
    )
    lines = ["# Benchmarks", "", intro, ""]
    if plan.scale.divisor > 1:
        lines += [
            "A quick run with small counts: good to see that everything works, not to compare.",
            "",
        ]
    for store, title in TITLES.items():
        systems = [s for s in SYSTEMS if s.store == store]
        parts = [table(results, systems, metrics) for metrics in (RATES, WAITS, GROWN)]
        if any(parts):
            lines += [
                f"## {title}",
                "",
                *[line for part in parts for line in part],
                *ratios(results, store),
            ]
    lines += all_bars(results)
    lines += ["## Settings", "", "| system | store | settings |", "|---|---|---|"]
    lines += [f"| {s.label} | {s.store} | {s.settings} |" for s in SYSTEMS if s in plan.systems]
    if problems := results.problems():
        lines += ["", "## Left out", "", *[f"- {problem.splitlines()[0]}" for problem in problems]]
    return "\n".join(lines) + "\n"
