"""The book of seeds that were run: which, on which code, and what broke.

One line of JSON a minute in `.cache/simulation.jsonl`, so that a run which is killed loses little and the
next one goes on behind it. `--keep` folds these lines, one a code, into `ledger.jsonl` beside this file, which
is kept with the code: other machines go on behind it. The code is known by a hash over the product and the
simulation. A failure is open until its seed stands in `regressions.json`, where every test run repeats it, or
is told as mended: when worlds have changed since, its number names another world.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FRESH = ROOT / ".cache" / "simulation.jsonl"
KEPT = Path(__file__).with_name("ledger.jsonl")
REGRESSIONS = Path(__file__).with_name("regressions.json")


@dataclass(frozen=True, slots=True)
class Totals:
    """What the ledger comes to."""

    here: int  # seeds run on the code as it is now
    ever: int
    open: tuple[int, ...]  # seeds that broke a promise, and nobody mended it yet

    def __str__(self) -> str:
        failures = ", ".join(map(str, self.open)) if self.open else "none"
        return (
            f"the ledger: {self.here:,} seeds on this code, {self.ever:,} in all,"
            f" open failures: {failures}"
        )


@cache
def code() -> str:
    """Name the code that runs, by what is in its files."""
    digest = blake2b(digest_size=6)
    files = [*(ROOT / "src" / "cadenza").rglob("*"), *Path(__file__).parent.glob("*.py")]
    for path in sorted(each for each in files if each.suffix in {".py", ".sql"}):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def write(first: int, to: int, broken: Sequence[int], *, seconds: float, cpu: float) -> None:
    """Add a line."""
    line = {"from": first, "to": to, "broken": list(broken), "seconds": round(seconds, 1)}
    _append(FRESH, [{**line, "cpu": round(cpu, 1), "code": code()}])


def tell_mended(seeds: Sequence[int]) -> None:
    """Say that what these seeds broke holds now."""
    _append(FRESH, [{"from": 0, "to": 0, "broken": [], "mended": list(seeds)}])


def keep(day: str) -> None:
    """Move what was run here into the book that is kept with the code."""
    _append(KEPT, fold(_lines(FRESH), day))
    FRESH.unlink(missing_ok=True)


def fold(lines: Iterable[dict[str, Any]], day: str) -> list[dict[str, Any]]:
    """Make one line of those that follow each other on one code; what is mended stays in its place."""
    folded: list[dict[str, Any]] = []
    for line in lines:
        last = folded[-1] if folded else {}
        if "mended" in line:
            folded.append({"day": day, **line})
        elif (last.get("to"), last.get("code")) == (line["from"], line["code"]):
            last["to"] = line["to"]
            last["broken"] = [*last["broken"], *line["broken"]]
        else:
            kept = {name: line[name] for name in ("from", "to", "broken", "code")}
            folded.append({"day": day, **kept})
    return folded


def next_seed() -> int:
    """Return the first seed behind all that the ledger has."""
    return max((line["to"] for line in [*_lines(KEPT), *_lines(FRESH)]), default=0)


def totals() -> Totals:
    """Add it all up."""
    known = set(json.loads(REGRESSIONS.read_text(encoding="utf-8")).values())
    return add_up([*_lines(KEPT), *_lines(FRESH)], known, code())


def add_up(lines: Iterable[dict[str, Any]], known: set[int], now: str) -> Totals:
    """Add lines up."""
    here = ever = 0
    broken: set[int] = set()
    for line in lines:
        count = line.get("seeds", line["to"] - line["from"])
        ever += count
        here += count if line.get("code") == now else 0
        broken |= set(line["broken"])
        broken -= set(line.get("mended", ()))
    return Totals(here, ever, tuple(sorted(broken - known)))


def _append(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as book:
        book.writelines(json.dumps(line) + "\n" for line in lines)


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
