"""`cadenza doctor`: is all well with the store, the workers and the clocks?

It reads and changes nothing. What a person should act on is told as a warning, and the exit code
is then 1, so that a monitor can ask.
"""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version

from cyclopts import App

from cadenza.cli.codes import OK, REFUSED
from cadenza.cli.open_jobs import HERE, HERE_ONLY, ServerOption, StoreOption, asks_server, opened
from cadenza.cli.show import as_data, echo, print_facts, print_json, print_table, when
from cadenza.core.zones import tz_version
from cadenza.engine.client import Engine
from cadenza.engine.job import Gate, Schedule, State, Tally, WorkerInfo
from cadenza.engine.recurring import trouble
from cadenza.engine.why import HEARD

app = App(name="doctor", help="Examine the store, the workers and the clocks.")

SKEW = 2.0  # seconds that a clock may be off before it is worth a word


@dataclass(slots=True)
class Findings:
    """What was seen, and what of it needs somebody."""

    facts: dict[str, str]
    workers: Sequence[WorkerInfo]
    now: datetime
    warnings: list[str] = field(default_factory=list)


@app.default
async def doctor(*, place: StoreOption = HERE, remote: ServerOption = HERE_ONLY) -> int:
    """Examine the store, the workers and the clocks.

    On a server it needs a key with the scope system:read, made by an owner of the installation.
    """
    if asks_server(place, remote):
        found = await _ask(remote)
    else:
        async with opened(place) as engine:
            found = await examine(engine)
    if place.json:
        print_json(
            {
                "facts": found.facts,
                "workers": [as_data(worker) for worker in found.workers],
                "warnings": found.warnings,
            }
        )
    else:
        _show(found, place.zone)
    return REFUSED if found.warnings else OK


async def _ask(remote: ServerOption) -> Findings:
    """Let a server say how it is; it sees its store, so its database's health is not in it."""
    from cadenza.cli.open_workspace import WorkspaceOptions, reached_installation

    async with reached_installation(
        WorkspaceOptions(server=remote.server, key=remote.key)
    ) as client:
        system = await client.system.show_system()
    skew = system["clock_skew_seconds"]
    facts = {
        "cadenza": system["version"],
        "tz database": system["tz_version"],
        "clock there": f"{skew:+.3f} s against the database's",
        "the oldest that is due waits": f"{system['delivery_lag_seconds']:.1f} s",
        "notices waiting": str(system["notices_waiting"]),
    }
    now = datetime.fromisoformat(system["database_time"])
    workers = [
        WorkerInfo(
            name=each["name"],
            queues=tuple(each["queues"]),
            tasks=(),
            concurrency=each["concurrency"],
            running=each["running"],
            version=each["version"],
            started_at=datetime.fromisoformat(each["started_at"]),
            seen_at=datetime.fromisoformat(each["seen_at"]),
            skew=each["clock_skew_seconds"],
        )
        for each in system["workers"]
    ]
    found = Findings(facts, workers, now)
    if abs(skew) > SKEW:
        found.warnings.append(f"the server's clock is {skew:+.1f} s off the database's")
    if system["hold"] is not None:
        found.warnings.append(f"sending is held: {system['hold']['message']}")
    if not workers:
        found.warnings.append("no worker was heard of: nothing is sent")
    found.warnings += judge_workers(workers, (), now)
    return found


async def examine(engine: Engine) -> Findings:
    """Look at everything there is to look at."""
    here = engine.clock.now()
    now = await engine.store.now()
    vital = await engine.store.vital_signs()
    workers = await engine.workers()
    skew = (here - now).total_seconds()
    facts = {
        "cadenza": version("cadenza"),
        "python": platform.python_version(),
        "tz database": tz_version(),
        **vital,
        "clock here": f"{skew:+.3f} s against the store's",
    }
    found = Findings(facts, workers, now)
    found.warnings += [t for name, t in vital.items() if "warning" in name and t != "none"]
    if abs(skew) > SKEW:
        found.warnings.append(f"this machine's clock is {skew:+.1f} s off the store's")
    found.warnings += judge_workers(workers, await engine.store.tally(), now)
    found.warnings += judge_gates(await engine.store.gates())
    found.warnings += judge_schedules(await engine.store.schedules())
    return found


def judge_workers(
    workers: Sequence[WorkerInfo], tallies: Sequence[Tally], now: datetime
) -> list[str]:
    """Find silent workers, odd clocks, mixed versions, and queues that nobody serves."""
    alive = [w for w in workers if (now - w.seen_at).total_seconds() < HEARD]
    said = [
        f"worker {w.name} was last heard of {(now - w.seen_at).total_seconds():.0f} s ago"
        for w in workers
        if w not in alive
    ]
    said += [
        f"the clock of worker {w.name} is {w.skew:+.1f} s off the store's: set its time service right"
        for w in alive
        if abs(w.skew) > SKEW
    ]
    versions = sorted({w.version for w in alive})
    if len(versions) > 1:
        said.append(f"workers of several versions are running: {', '.join(versions)}")
    served = {queue for w in alive for queue in w.queues}
    said += [
        f"{t.count} jobs wait in queue {t.queue!r}, which no running worker serves"
        for t in tallies
        if t.state is State.WAITING and t.count and t.queue not in served
    ]
    return said


def judge_gates(gates: Sequence[Gate]) -> list[str]:
    """Find what somebody paused, perhaps long ago."""
    return [f"{gate.scope} is paused: {gate.reason}" for gate in gates if gate.paused]


def judge_schedules(schedules: Sequence[Schedule]) -> list[str]:
    """Find schedules that stand still because they cannot be read any more."""
    return [f"schedule {s.name} cannot fire: {why}" for s in schedules if (why := trouble(s))]


def _show(found: Findings, zone: str | None) -> None:
    print_facts(found.facts)
    rows = [
        (
            w.name,
            ", ".join(w.queues),
            f"{w.running}/{w.concurrency}",
            when(w.seen_at, zone),
            f"{w.skew:+.3f} s",
            w.version,
        )
        for w in found.workers
    ]
    headings = ("worker", "queues", "running", "last heard", "clock", "version")
    print_table(headings, rows, empty="no worker was heard of lately")
    for warning in found.warnings:
        echo(f"warning: {warning}")
    if not found.warnings:
        echo("all is well")
