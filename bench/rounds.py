"""Run the works in interleaved rounds: every system once, then every system again.

Interleaving spreads a slow minute of the machine over all. A measurement during which other
processes took more than 0.06 core is repeated while patience lasts; the quietest try stays and
is marked when it was still too loud. A system that fails is reported, and the rest goes on.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg
import psutil

from bench.catalogue import System
from bench.measure import Spread
from bench.session import FailureError, Ground
from bench.works import WORKS, Reading, Scale

QUIET = 0.06
# The longer a work takes and the more samples one round holds, the fewer rounds it gets.
ROUNDS: Mapping[str, int] = {"rate": 5, "idle": 3, "growth": 3, "pressure": 1}


@dataclass(slots=True)
class Results:
    """All readings of a run, by system and metric."""

    readings: dict[tuple[str, str], list[Reading]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, system: str, reading: Reading) -> None:
        """Keep one reading."""
        self.readings.setdefault((system, reading.metric), []).append(reading)

    def spread(self, system: str, metric: str) -> Spread | None:
        """Summarise the valid rounds of one cell; None where there is none."""
        valid = [
            reading.value
            for reading in self.readings.get((system, metric), [])
            if not reading.problem
        ]
        return Spread.of(valid) if valid else None

    def loud(self, system: str, metric: str) -> bool:
        """Say whether some round of a cell had noisy neighbours."""
        return any(reading.others > QUIET for reading in self.readings.get((system, metric), []))

    def problems(self) -> list[str]:
        """List what made readings invalid."""
        return [
            f"{system}, {metric}, round {index + 1}: {reading.problem}"
            for (system, metric), readings in self.readings.items()
            for index, reading in enumerate(readings)
            if reading.problem
        ] + self.failures


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run and how often."""

    systems: Sequence[System]
    works: Sequence[str]
    rounds: Mapping[str, int]
    patience: int
    named: bool
    scale: Scale

    def takes_part(self, system: System, work: str) -> bool:
        """Say whether a system runs a work: the long ones are for ours and raw unless named."""
        if work == "growth":
            many = system.bulk and system.store != "mongo"  # the stand-in holds no million
            return many and (self.named or system.heavy())
        if work == "pressure":
            return system.store == "postgres" and (self.named or system.heavy())
        return True


def try_quietly(system: System, work: str, connection: Ground, *, plan: Plan) -> list[Reading]:
    """Measure until it was quiet or patience ends; return the quietest try."""
    tries: list[list[Reading]] = []
    for _ in range(plan.patience + 1):
        readings = WORKS[work](system, connection, plan.scale)
        tries.append(readings)
        if all(reading.others <= QUIET for reading in readings):
            break
    return min(
        tries, key=lambda readings: max((reading.others for reading in readings), default=0.0)
    )


def run_rounds(plan: Plan, connection: Ground, results: Results) -> None:
    """Run every round of every work; what was measured stays when a later one breaks."""
    for number in range(max(plan.rounds[work] for work in plan.works)):
        for work in plan.works:
            if number >= plan.rounds[work]:
                continue
            for system in plan.systems:
                if plan.takes_part(system, work):
                    run_one(system, work, connection, plan=plan, results=results, number=number)


def run_one(
    system: System, work: str, connection: Ground, *, plan: Plan, results: Results, number: int
) -> None:
    """Measure one system once and say how it went."""
    begin = time.monotonic()
    try:
        readings = try_quietly(system, work, connection, plan=plan)
    except (FailureError, OSError, KeyError, asyncpg.PostgresError, psutil.Error) as failure:
        results.failures.append(f"{system.name}, {work}, round {number + 1}: {failure!r}")
        print(f"  {system.name:18} {work}: FAILED: {failure}", file=sys.stderr, flush=True)
        return
    for reading in readings:
        results.add(system.name, reading)
    said = "  ".join(
        f"{r.metric}={r.value:,.1f}{'!' + r.problem if r.problem else ''}" for r in readings
    )
    others = max((r.others for r in readings), default=0.0)
    took = time.monotonic() - begin
    line = f"  {number + 1} {system.name:18} {work} ({took:.1f} s, others {others:.2f}): {said}"
    print(line, file=sys.stderr, flush=True)
