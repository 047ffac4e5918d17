"""From a failing tape to a short one that breaks the same promise, and to a story that can be read.

Cut the tail, zero blocks in halving sizes, then lower single values; a change is kept if the same
promise still breaks. It is greedy and bounded by time: the result is small, not the smallest.
"""

import time
from datetime import timedelta

from tests.simulation.kernel import START
from tests.simulation.mutants import Mutant
from tests.simulation.world import Verdict, simulate


def shrink(verdict: Verdict, *, mutant: Mutant | None = None, seconds: float = 60.0) -> Verdict:
    """Return the calmest run found that breaks the same promise."""
    assert verdict.violation is not None, "there is nothing to shrink"
    promise, end = verdict.violation.promise, time.monotonic() + seconds
    best = verdict

    def better(tape: list[int]) -> bool:
        nonlocal best
        if time.monotonic() > end:
            return False
        found = simulate(verdict.seed, replay=tape, mutant=mutant)
        if found.violation is None or found.violation.promise != promise:
            return False
        best = found
        return True

    size = len(best.tape) // 2
    while size:
        if not better(best.tape[:-size]):
            size //= 2
        size = min(size, len(best.tape) // 2)
    size = max(len(best.tape) // 2, 1)
    while size and time.monotonic() < end:
        for at in range(0, len(best.tape), size):
            block = best.tape[at : at + size]
            if any(block):
                better([*best.tape[:at], *[0] * len(block), *best.tape[at + size :]])
        size //= 2
    for at, value in enumerate(best.tape):
        if value > 1 and at < len(best.tape):
            better([*best.tape[:at], value // 2, *best.tape[at + 1 :]])
    return best


def story(verdict: Verdict) -> str:
    """Tell a run: one line an event, in the order of virtual time."""
    lines = [f"seed {verdict.seed}, {sum(map(bool, verdict.tape))} decisions that are not nought"]
    lines += [
        f"{START + timedelta(seconds=event.at):%H:%M:%S.%f}"[:-3]
        + f"  {event.host:<8} {event.kind:<7} {event.text}"
        for event in verdict.events
    ]
    if verdict.violation is not None:
        lines.append(f"broken: {verdict.violation.promise}: {verdict.violation.message}")
    return "\n".join(lines)
