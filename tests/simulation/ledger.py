"""The book of seeds that were run: which, on which code, and what broke.

One line of JSON a minute in `.cache/simulation.jsonl`, so that a run which is killed loses little and the
next one goes on behind it. The code is known by a hash over the product and the simulation. A failure is
open until its seed stands in `regressions.json`, where every test run repeats it, or is told as mended: when
worlds have changed since, its number names another world.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / ".cache" / "simulation.jsonl"
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
    LEDGER.parent.mkdir(exist_ok=True)
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, "cpu": round(cpu, 1), "code": code()}) + "\n")


def tell_mended(seeds: Sequence[int]) -> None:
    """Say that what these seeds broke holds now."""
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"from": 0, "to": 0, "broken": [], "mended": list(seeds)}) + "\n")


def next_seed() -> int:
    """Return the first seed that the ledger does not have."""
    return max((line["to"] for line in _lines()), default=0)


def totals() -> Totals:
    """Add it all up."""
    known = set(json.loads(REGRESSIONS.read_text(encoding="utf-8")).values())
    return add_up(_lines(), known, code())


def add_up(lines: Iterable[dict[str, Any]], known: set[int], now: str) -> Totals:
    """Add lines up; early ones have no code, and count what broke instead of naming it."""
    here = ever = 0
    broken: set[int] = set()
    for line in lines:
        count = line["to"] - line["from"]
        ever += count
        here += count if line.get("code") == now else 0
        broken |= set(line["broken"]) if isinstance(line["broken"], list) else set()
        broken -= set(line.get("mended", ()))
    return Totals(here, ever, tuple(sorted(broken - known)))


def _lines() -> list[dict[str, Any]]:
    if not LEDGER.exists():
        return []
    return [json.loads(line) for line in LEDGER.read_text(encoding="utf-8").splitlines()]
