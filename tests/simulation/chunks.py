"""What one process does of many: a chunk of seeds, or one mutant's hunt.

It stands apart from `__main__`, which a new process cannot import by its name.
"""

import logging
import time
from dataclasses import dataclass

from tests.simulation.mutants import MUTANTS
from tests.simulation.world import simulate

TWICE = 20  # every so many seeds one is run again: it must come to the same
CHUNK = 20  # seeds that a process takes at once
ENOUGH = 2000  # seeds within which every mutant must be found


@dataclass(frozen=True, slots=True)
class Ran:
    """A chunk of seeds, and what they came to."""

    to: int
    virtual: float  # seconds that passed in these worlds
    cpu: float
    broken: tuple[int, ...] = ()
    message: str = ""


def run_chunk(first: int) -> Ran:
    """Run a chunk of seeds, up to the first that breaks a promise."""
    logging.disable(logging.CRITICAL)
    began, virtual = time.process_time(), 0.0
    for seed in range(first, first + CHUNK):
        verdict = simulate(seed)
        virtual += verdict.seconds
        cpu = time.process_time() - began
        if verdict.violation is not None:
            return Ran(seed + 1, virtual, cpu, (seed,), verdict.violation.message)
        if seed % TWICE == 0 and simulate(seed).hash != verdict.hash:
            message = f"seed {seed} does not come to the same twice: something escapes the tape"
            return Ran(seed + 1, virtual, cpu, (seed,), message)
    return Ran(first + CHUNK, virtual, time.process_time() - began)


def first_kill(name: str) -> tuple[str, int | None]:
    """Find the first seed that kills a mutant."""
    logging.disable(logging.CRITICAL)
    for seed in range(ENOUGH):
        if simulate(seed, mutant=MUTANTS[name]).violation is not None:
            return name, seed
    return name, None
