"""`python -m tests.simulation --minutes 5`: fresh seeds until the time is up or a promise breaks.

All cores are used, each by a process of its own. The ledger says what was run, so that the next run goes
on where this one ended; `--keep` adds it to the ledger that is kept with the code. A failing seed is shrunk and its story printed; put its number into
`regressions.json` together with the repair.
"""

import argparse
import json
import logging
import multiprocessing
import multiprocessing.pool
import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulation import ledger
from tests.simulation.chunks import CHUNK, Ran, first_kill, run_chunk
from tests.simulation.mutants import MUTANTS
from tests.simulation.shrink import shrink, story
from tests.simulation.world import simulate

SEEDS = Path(__file__).with_name("seeds.json")
A_LINE = 60.0  # seconds that one line of the ledger stands for


def soak(first: int, minutes: float, processes: int) -> int:
    """Run fresh seeds; return how many promises were broken (the first one ends it)."""
    began, done = time.monotonic(), list[Ran]()
    end, at, book = began + minutes * 60, first, Book(first, began)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        running = deque[multiprocessing.pool.AsyncResult[Ran]]()
        while running or (time.monotonic() < end and not any(ran.broken for ran in done)):
            may = time.monotonic() < end and not any(ran.broken for ran in done)
            while may and len(running) < processes * 2:
                running.append(pool.apply_async(run_chunk, (at,)))
                at += CHUNK
            if running:
                done.append(running.popleft().get())
                book.note(done[-1], last=not running)
    broken = [seed for ran in done for seed in ran.broken]
    _tell(first, done, time.monotonic() - began)
    for seed in broken[:1]:
        verdict = simulate(seed)
        print(story(shrink(verdict)) if verdict.violation is not None else done[-1].message)
    print(ledger.totals())
    return len(broken)


@dataclass(slots=True)
class Book:
    """Gathers chunks into lines of the ledger."""

    first: int
    since: float
    gathered: list[Ran] = field(default_factory=list[Ran])

    def note(self, ran: Ran, *, last: bool) -> None:
        """Keep a chunk; write when it is time."""
        self.gathered.append(ran)
        now = time.monotonic()
        if not (last or ran.broken or now - self.since > A_LINE):
            return
        broken = [seed for each in self.gathered for seed in each.broken]
        cpu = sum(each.cpu for each in self.gathered)
        ledger.write(self.first, ran.to, broken, seconds=now - self.since, cpu=cpu)
        self.first, self.since, self.gathered = ran.to, now, []


def _tell(first: int, done: Sequence[Ran], spent: float) -> None:
    """Say what was run to whoever looks on."""
    count, cpu = max((ran.to for ran in done), default=first) - first, sum(r.cpu for r in done)
    broken = sum(len(ran.broken) for ran in done)
    print(
        f"{count} seeds from {first}, {sum(ran.virtual for ran in done) / 3600:.1f} virtual hours,"
        f" {count * 60 / max(spent, 0.001):.0f} seeds a minute,"
        f" {cpu / max(count, 1):.3f} s of a core each, {broken} broken"
    )
    for ran in done:
        if ran.broken:
            print(f"seed {ran.broken[0]}: {ran.message}")


def hunt(processes: int) -> int:
    """Find again, for every mutant, the first seed that kills it; return how many live on."""
    found: dict[str, int] = {}
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for name, seed in pool.imap(first_kill, MUTANTS):
            print(f"{name}: {'alive' if seed is None else f'seed {seed}'}")
            sys.stdout.flush()
            if seed is not None:
                found[name] = seed
    SEEDS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return len(MUTANTS) - len(found)


def main(arguments: Sequence[str]) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--from", dest="first", type=int, help="the first seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="run one seed and tell its story")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="with this mistake planted")
    parser.add_argument("--hash", action="store_true", help="with --seed: print only its hash")
    parser.add_argument("--hunt", action="store_true", help="find a killing seed for each mutant")
    parser.add_argument("--mended", type=int, nargs="+", help="what these seeds broke holds now")
    parser.add_argument("--keep", action="store_true", help="keep what was run with the code")
    requested = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    if requested.mended or requested.keep:
        if requested.mended:
            ledger.tell_mended(requested.mended)
        if requested.keep:
            ledger.keep(time.strftime("%Y-%m-%d", time.gmtime()))
        print(ledger.totals())
        return 0
    if requested.hunt:
        return hunt(requested.processes)
    if requested.seed is None:
        first = ledger.next_seed() if requested.first is None else requested.first
        return soak(first, requested.minutes, requested.processes)
    mutant = None if requested.mutant is None else MUTANTS[requested.mutant]
    verdict = simulate(requested.seed, mutant=mutant)
    if requested.hash:
        print(verdict.hash)
        return 0
    if verdict.violation is not None:
        verdict = shrink(verdict, mutant=mutant)
    print(story(verdict))
    return int(verdict.violation is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
