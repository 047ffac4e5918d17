"""The works that are measured: rate, idle (with pick-up and lateness), growth, pressure.

Each takes a system, gives it a fresh store and returns readings. A reading carries the CPU
that other processes took meanwhile, and what was wrong (jobs left, handled twice, early), so
that the report can leave it out instead of believing it.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from bench.catalogue import System
from bench.marks import Mark, read_marks
from bench.measure import duplicates, percentile, slope
from bench.session import Ground, Run, Session
from bench.watch import Neighbours, resident_megabytes, thread_seconds

PICKUPS, GAP = 200, 0.02
TIMED, LEAD, SPAN = 200, 1.5, 4.0
GROWTH = {"grow_1k": 1_000, "grow_100k": 100_000, "grow_1m": 1_000_000}
SAMPLE = 20_000
DAY = 86_400
HELD_SECONDS, WATCHED_SECONDS = 60.0, 8.0
BATCH, BATCH_GAP = 500, 0.05
DURATION = re.compile(r"duration: ([0-9.]+) ms  (?:execute|statement)")


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured value."""

    metric: str
    value: float
    others: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of each work is done: `--quick` divides the counts."""

    divisor: int = 1
    held: float = HELD_SECONDS

    def of(self, count: int) -> int:
        """Shrink a count, but not to nothing."""
        return max(count // self.divisor, 50)


def faults(marks: Iterable[Mark], expected: int | None, left: int) -> str:
    """Say what is wrong with a drain, or nothing."""
    seen = list(marks)
    said = []
    if twice := duplicates(seen):
        said.append(f"{twice} handled twice")
    if left:
        said.append(f"{left} left")
    if expected is not None and len(seen) - twice != expected:
        said.append(f"{len(seen) - twice} of {expected} handled")
    return ", ".join(said)


def drained(session: Session, *, first: int, count: int, workers: int) -> Reading:
    """Drain what was loaded and turn it into a reading."""
    run = session.drain(workers, count)
    settled = session.settled_at()
    left = session.left()
    session.stop_workers()
    problem = faults(read_marks(session.marks), count, left or session.left())
    rate = slope(run.marks, workers, settled_ns=settled)
    if rate is None:
        problem = problem or "a worker got no job"
    return Reading(f"drain_{workers}", rate or 0.0, run.others, problem)


def measure_rate(system: System, connection: Ground, scale: Scale) -> list[Reading]:
    """Enqueue in bulk and drain, with one worker and with two; then enqueue one by one."""
    readings: list[Reading] = []
    with Session(system, connection) as session:
        first, loaded, seconds, others = 0, 0, 0.0, 0.0
        for workers in range(1, system.workers + 1):
            count = scale.of(system.jobs)
            neighbours = Neighbours()
            seconds += session.load(first, count)
            loaded += count
            others = max(others, neighbours.cores())
            readings.append(drained(session, first=first, count=count, workers=workers))
            first += count
        if system.bulk:
            readings.append(Reading("bulk", loaded / seconds, others))
        neighbours = Neighbours()
        ones = scale.of(system.ones)
        took = session.ask(verb="one", first=first, count=ones)["seconds"]
        readings.append(Reading("one", ones / took, neighbours.cores()))
    return readings


def measure_idle(system: System, connection: Ground, scale: Scale) -> list[Reading]:
    """Watch an idle worker, then send it single jobs, then jobs with a due time."""
    with Session(system, connection) as session:
        session.settle_store()
        session.start_workers(1)
        session.open_gate()
        time.sleep(1.5)
        readings = rest(session, 4.0 if scale.divisor == 1 else 2.0)
        readings += pick_up(session, scale.of(PICKUPS))
        if system.timed:
            readings += lateness(session, scale.of(TIMED))
        return readings


def rest(session: Session, seconds: float) -> list[Reading]:
    """Measure memory and CPU of a worker that has nothing to do."""
    pids = [worker.pid for worker in session.workers]
    neighbours, begin = Neighbours(), thread_seconds(pids)
    time.sleep(seconds)
    share = 100 * (thread_seconds(pids) - begin) / seconds
    others = neighbours.cores()
    return [Reading("rss", resident_megabytes(pids), others), Reading("cpu", share, others)]


def pick_up(session: Session, count: int) -> list[Reading]:
    """Measure from the begin of the enqueue call to the handler."""
    neighbours = Neighbours()
    sent = session.ask(verb="spaced", first=1_000_000, count=count, gap=GAP)["sent_ns"]
    session.await_marks(count, 30)
    others, marks = neighbours.cores(), read_marks(session.marks)
    at = {mark.number: mark.at_ns for mark in reversed(marks)}
    waits = [(at[1_000_000 + i] - begun) / 1e6 for i, begun in enumerate(sent)]
    problem = faults(marks, count, session.left())
    return [
        Reading("pickup_p50", percentile(waits, 0.5), others, problem),
        Reading("pickup_p99", percentile(waits, 0.99), others, problem),
    ]


def lateness(session: Session, count: int) -> list[Reading]:
    """Measure from the due time to the handler."""
    before = len(read_marks(session.marks))
    neighbours = Neighbours()
    answer = session.ask(verb="timed", first=2_000_000, count=count, lead=LEAD, span=SPAN)
    session.await_marks(before + count, LEAD + SPAN + 30)
    others, marks = neighbours.cores(), read_marks(session.marks)
    at = {mark.number: mark.at_ns for mark in reversed(marks)}
    late = [(at[2_000_000 + i] - due) / 1e6 for i, due in enumerate(answer["due_ns"])]
    problem = faults(marks, before + count, session.left())
    if min(late) < -1.0:
        problem = f"ran {-min(late):.0f} ms early"
    if answer["late_setup"]:
        problem = "enqueueing took longer than the lead"
    return [
        Reading("late_p50", percentile(late, 0.5), others, problem),
        Reading("late_p99", percentile(late, 0.99), others, problem),
    ]


def sample(session: Session, count: int) -> Run:
    """Let one worker handle the first `count` jobs of a backlog, then stop it."""
    run = session.drain(1, count)
    session.stop_workers()
    return run


def measure_growth(system: System, connection: Ground, scale: Scale) -> list[Reading]:
    """Handle 20,000 jobs while 1 k, 100 k, 1 M others wait behind, or 1 M are deferred."""
    readings: list[Reading] = []
    count = scale.of(SAMPLE)
    for metric, behind in GROWTH.items():
        with Session(system, connection) as session:
            session.load(0, count + scale.of(behind))
            run = sample(session, count)
        readings.append(
            Reading(
                metric,
                slope(run.marks, 1, limit=count) or 0.0,
                run.others,
                faults(run.marks, None, 0),
            )
        )
    with Session(system, connection) as session:
        due = time.time() + DAY
        session.ask(verb="bulk", first=1_000_000, count=scale.of(1_000_000), due=due)
        session.load(0, count + 1_000)
        run = sample(session, count)
    readings.append(
        Reading(
            "deferred_1m",
            slope(run.marks, 1, limit=count) or 0.0,
            run.others,
            faults(run.marks, None, 0),
        )
    )
    return readings


def claim_times(log: Path, offset: int, database: str) -> list[float]:
    """Read the durations (ms) of this database's SKIP LOCKED statements from the server's log."""
    with log.open("rb") as file:
        file.seek(offset)
        entries = re.split(r"\n(?!\t)", file.read().decode(errors="replace"))
    return [
        float(found[1])
        for entry in entries
        if f" {database} " in entry
        and "SKIP LOCKED" in entry.upper()
        and (found := DURATION.search(entry))
    ]


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time during which the server logged every statement."""

    begin_ns: int
    end_ns: int
    claims: list[float]


async def watch_claims(session: Session, seconds: float) -> Window:
    """Have the server log each statement for a while; return the claims' durations."""
    postgres = session.connection.postgres
    on = "ALTER SYSTEM SET log_min_duration_statement = 0"
    off = "ALTER SYSTEM RESET log_min_duration_statement"
    offset, begin = postgres.log.stat().st_size, time.monotonic_ns()
    await postgres.run("postgres", on, "SELECT pg_reload_conf()")
    await asyncio.sleep(seconds)
    end = time.monotonic_ns()
    await postgres.run("postgres", off, "SELECT pg_reload_conf()")
    return Window(begin, end, claim_times(postgres.log, offset, session.database))


async def hold_and_watch(session: Session, held: float) -> tuple[Window, Window]:
    """Watch claims, then hold a snapshot open while rows come and go, and watch again."""
    await asyncio.sleep(2.0)
    before = await watch_claims(session, WATCHED_SECONDS)
    old = await asyncpg.connect(session.connection.postgres.dsn(session.database))
    holding = old.transaction(isolation="repeatable_read")
    await holding.start()
    await old.fetchval("SELECT pg_current_xact_id()::text")
    await asyncio.sleep(max(held - WATCHED_SECONDS, 0))
    after = await watch_claims(session, WATCHED_SECONDS)
    await holding.rollback()
    await old.close()
    return before, after


def read_window(window: Window, sent: list[int], marks: list[Mark], kind: str) -> list[Reading]:
    """Turn a window into the mean claim time and the median wait of each batch's first job."""
    if not window.claims:
        return [Reading(f"claim_{kind}", 0.0, problem="no claim was seen in the server's log")]
    at = {mark.number: mark.at_ns for mark in reversed(marks)}
    waits = [
        (at[index * BATCH] - begun) / 1e6
        for index, begun in enumerate(sent)
        if window.begin_ns <= begun <= window.end_ns
    ]
    return [
        Reading(f"claim_{kind}", sum(window.claims) / len(window.claims)),
        Reading(f"wait_{kind}", percentile(waits, 0.5)),
    ]


def measure_pressure(system: System, connection: Ground, scale: Scale) -> list[Reading]:
    """Compare claims before and after a transaction was held open for a minute."""
    with Session(system, connection) as session:
        session.settle_store()
        session.start_workers(1)
        session.open_gate()
        neighbours = Neighbours()
        total = scale.held + WATCHED_SECONDS + 5
        session.send(verb="feed", first=0, seconds=total, batch=BATCH, gap=BATCH_GAP)
        before, after = asyncio.run(hold_and_watch(session, scale.held))
        answer = session.answer(60)
        others = neighbours.cores()
        session.await_marks(answer["count"], 120)
        left, marks = session.left(), read_marks(session.marks)
    problem = faults(marks, answer["count"], left)
    readings = read_window(before, answer["sent_ns"], marks, "free")
    readings += read_window(after, answer["sent_ns"], marks, "held")
    return [replace(r, others=others, problem=r.problem or problem) for r in readings]


WORKS: dict[str, Callable[[System, Ground, Scale], list[Reading]]] = {
    "rate": measure_rate,
    "idle": measure_idle,
    "growth": measure_growth,
    "pressure": measure_pressure,
}
