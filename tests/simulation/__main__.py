"""`python -m tests.simulation --minutes 5`: fresh seeds until the time is up or a promise breaks.

A ledger of the seeds that were run is kept in `.cache/simulation.jsonl`, so that the next run goes on
where this one ended. A failing seed is shrunk and its story printed; put its number into
`regressions.json` together with the repair.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.simulation.mutants import MUTANTS
from tests.simulation.shrink import shrink, story
from tests.simulation.world import simulate

LEDGER = Path(__file__).parents[2] / ".cache" / "simulation.jsonl"
SEEDS = Path(__file__).with_name("seeds.json")
TWICE = 20  # every so many seeds one is run again: it must come to the same


def next_seed() -> int:
    """Return the first seed that the ledger does not have."""
    if not LEDGER.exists():
        return 0
    lines = LEDGER.read_text(encoding="utf-8").splitlines()
    return max((json.loads(line)["to"] for line in lines), default=0)


def soak(first: int, minutes: float) -> int:
    """Run fresh seeds; return how many promises were broken (the first one ends it)."""
    began, seed, virtual, broken = time.monotonic(), first, 0.0, 0
    while time.monotonic() - began < minutes * 60 and not broken:
        verdict = simulate(seed)
        virtual += verdict.seconds
        if verdict.violation is not None:
            broken = 1
            print(story(shrink(verdict)))
        elif seed % TWICE == 0 and simulate(seed).hash != verdict.hash:
            broken = 1
            print(f"seed {seed} does not come to the same twice: something escapes the tape")
        seed += 1
    spent = time.monotonic() - began
    rate = (seed - first) * 60 / max(spent, 0.001)
    LEDGER.parent.mkdir(exist_ok=True)
    with LEDGER.open("a", encoding="utf-8") as file:
        line = {"from": first, "to": seed, "broken": broken, "seconds": round(spent, 1)}
        file.write(json.dumps(line) + "\n")
    print(
        f"{seed - first} seeds from {first}, {virtual / 3600:.1f} virtual hours,"
        f" {rate:.0f} seeds a minute, {broken} broken"
    )
    return broken


def hunt(minutes: float) -> int:
    """Find anew, for every mutant, the first seed that kills it; return how many live on."""
    found: dict[str, int] = {}
    for name, mutant in MUTANTS.items():
        end, seed = time.monotonic() + minutes * 60, 0
        while time.monotonic() < end:
            verdict = simulate(seed, mutant=mutant)
            if verdict.violation is not None:
                found[name] = seed
                print(f"{name}: seed {seed}, {verdict.violation.promise}: {verdict.violation.says}")
                break
            seed += 1
        else:
            print(f"{name}: alive after {seed} seeds")
        sys.stdout.flush()
    SEEDS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return len(MUTANTS) - len(found)


def main(arguments: Sequence[str]) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--from", dest="first", type=int, help="the first seed")
    parser.add_argument("--seed", type=int, help="run one seed and tell its story")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="with this mistake planted")
    parser.add_argument("--hash", action="store_true", help="with --seed: print only its hash")
    parser.add_argument("--hunt", action="store_true", help="find a killing seed for each mutant")
    asked = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    if asked.hunt:
        return hunt(asked.minutes)
    if asked.seed is None:
        return soak(next_seed() if asked.first is None else asked.first, asked.minutes)
    mutant = None if asked.mutant is None else MUTANTS[asked.mutant]
    verdict = simulate(asked.seed, mutant=mutant)
    if asked.hash:
        print(verdict.hash)
        return 0
    if verdict.violation is not None:
        verdict = shrink(verdict, mutant=mutant)
    print(story(verdict))
    return int(verdict.violation is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
