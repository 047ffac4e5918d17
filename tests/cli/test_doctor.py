"""`cadenza doctor` tells versions and hazards, and who should act on what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cadenza.cli.doctor import judge_gates, judge_workers
from cadenza.engine import Engine
from cadenza.engine.job import Gate, Scope, State, Tally, WorkerInfo
from tests.cli.conftest import Shell

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_worker(name: str = "ada", *, heard: float = 0, **changes: object) -> WorkerInfo:
    facts: dict[str, object] = {
        "name": name,
        "queues": ("default",),
        "tasks": ("greet",),
        "concurrency": 20,
        "started_at": NOW,
        "seen_at": NOW - timedelta(seconds=heard),
        "version": "1.0",
    }
    return WorkerInfo(**{**facts, **changes})  # pyright: ignore[reportArgumentType]


def test_a_sound_store_is_well(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    shell("jobs", "cancel", "1")
    said = shell("doctor")
    assert said.code == 0
    assert "all is well" in said.out
    facts = shell("doctor", "--json").data["facts"]
    assert {"cadenza", "python", "tz database", "store", "clock here"} <= facts.keys()


def test_a_queue_that_nobody_serves_is_a_warning(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet", "--queue", "mail")
    said = shell("doctor")
    assert said.code == 1
    assert "warning: 1 jobs wait in queue 'mail', which no running worker serves" in said.out


def test_a_silent_worker_an_odd_clock_and_mixed_versions_are_told() -> None:
    workers = [
        a_worker("silent", heard=300),
        a_worker("fast", skew=7.5),
        a_worker("new", version="2.0"),
    ]
    said = judge_workers(workers, [Tally("default", State.WAITING, 3)], NOW)
    assert said == [
        "worker silent was last heard of 300 s ago",
        "the clock of worker fast is +7.5 s off the store's: set its time service right",
        "workers of several versions are running: 1.0, 2.0",
    ]


def test_a_pause_is_remembered() -> None:
    gates = [Gate(Scope("mail"), paused=True, reason="Ada is away"), Gate(Scope("default"))]
    assert judge_gates(gates) == ["mail is paused: Ada is away"]


def test_a_schedule_that_cannot_fire_is_told(shell: Shell) -> None:
    async def break_one(engine: Engine) -> None:
        made = await engine.schedule("nightly", "greet", cron="0 3 * * *")
        gone = made.recurrence.replace('"UTC"', '"Atlantis/Poseidonis"')
        await engine.store.put_schedule(replace(made, recurrence=gone))

    shell.with_engine(break_one)
    said = shell("doctor")
    assert said.code == 1
    assert "warning: schedule nightly cannot fire: 'Atlantis/Poseidonis'" in said.out
    assert "cannot fire: 'Atlantis/Poseidonis'" in shell("jobs", "schedules").out
