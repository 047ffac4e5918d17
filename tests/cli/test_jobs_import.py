"""`cadenza jobs import` brings in what the real mongodb-cron, Agenda and pg-boss left to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import MongoClient

from cadenza.engine import Engine, State
from cadenza.engine.adopt import (
    ForeignJob,
    ForeignSchedule,
    ImportedRecord,
    LeftOut,
    agenda,
    import_records,
    mongodb_cron,
    pgboss,
)
from cadenza.engine.adopt.agenda import to_seconds
from cadenza.engine.adopt.fetch import from_pgboss
from cadenza.engine.testing.clock import VirtualClock
from tests.cli.conftest import Shell
from tests.servers.node import node_folder, run_script
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

NOW = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def node() -> None:
    try:
        node_folder()
    except ServerUnavailableError as reason:
        skip_or_fail("node", reason)


def by_task(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["task"]: row for row in rows}


def test_documents_of_mongodb_cron_become_jobs_and_schedules(
    shell: Shell, mongo_database: str
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    with MongoClient[dict[str, Any]](mongo_database) as client:
        client.get_default_database()["jobs"].insert_many(
            [
                {"_id": 1, "sleepUntil": soon, "name": "Ada"},
                {"_id": 2, "sleepUntil": soon, "interval": "0 30 9 * * *", "name": "Ben"},
                {"_id": 3, "sleepUntil": None, "name": "Cy"},
                {"_id": 4, "sleepUntil": soon, "interval": "every other day"},
            ]
        )
    words = ("jobs", "import", "mongodb-cron", mongo_database, "--task", "greet", "--json")
    tried = shell(*words, "--dry-run").data
    assert [row["outcome"] for row in tried] == [
        "would insert",
        "would schedule",
        "left out",
        "refused",
    ]
    assert "there is no store" in shell("jobs", "list").err, "a dry run makes none"
    said = shell(*words)
    assert said.code != 0, "something was refused"
    assert [row["outcome"] for row in said.data] == ["inserted", "scheduled", "left out", "refused"]
    jobs = shell("jobs", "list", "--json").data
    assert [(job["task"], job["payload"]) for job in jobs] == [
        ("greet", {"name": "Ben"}),  # its next run there is no time of its cron
        ("greet", {"name": "Ada"}),
    ]
    assert next(row["outcome"] for row in shell(*words).data) == "existing"


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("version", ["5", "6"])
def test_what_agenda_wrote_is_understood_or_refused_by_name(
    shell: Shell, mongo_database: str, version: str
) -> None:
    run_script("agenda.mjs", mongo_database, "agendaJobs", version)
    rows = shell("jobs", "import", "agenda", mongo_database, "--json").data
    outcomes = sorted((row["outcome"], row["what"].rsplit(" ", 1)[-1]) for row in rows)
    assert [outcome for outcome, _ in outcomes] == [
        *["inserted"] * 3,
        "left out",
        "refused",
        *["scheduled"] * 2,
    ]
    assert [row["what"] for row in rows if row["outcome"] == "refused"] == [
        "not understood: repeatAt"
    ]
    jobs = by_task(shell("jobs", "list", "--json").data)
    assert jobs["greet"]["payload"] == {"name": "Ada"}
    assert jobs["urgent"]["priority"] < 0, "the higher goes first there, the lower here"


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("version", ["10", "11", "12"])
def test_what_pg_boss_wrote_is_understood(
    shell: Shell, postgres_database: str, version: str
) -> None:
    run_script("pgboss.mjs", postgres_database, version)
    rows = shell("jobs", "import", "pg-boss", postgres_database, "--json").data
    assert sorted(row["outcome"] for row in rows) == [
        "inserted",
        "inserted",
        "inserted",
        "refused",  # the one that is running there
        "scheduled",
    ]
    jobs = shell("jobs", "list", "--json").data
    assert {job["queue"] for job in jobs} == {"mail", "sync"}
    (sync,) = [job for job in jobs if job["queue"] == "sync"]
    assert sync["lane"] == "one"
    (later,) = [job for job in jobs if job["payload"] == {"to": "Ben"}]
    assert later["priority"] == -10


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("version", ["10", "11", "12"])
async def test_a_schedule_of_pg_boss_keeps_its_options_and_its_queues(
    postgres_database: str, version: str
) -> None:
    run_script("pgboss.mjs", postgres_database, version)
    _, (row,) = await from_pgboss(postgres_database)
    found = pgboss.read_schedule(row)
    assert isinstance(found, ForeignSchedule)
    retry = found.options["retry"]
    assert (retry.limit, retry.delay, retry.factor) == (4, timedelta(seconds=10), 2.0)
    assert (found.options["priority"], found.options["time_limit"]) == (-3, timedelta(minutes=1))
    assert any("mail-dead" in note for note in found.notes)


def test_a_schedule_of_pg_boss_without_options_has_its_defaults() -> None:
    found = pgboss.read_schedule(
        {"name": "mail", "cron": "0 3 * * *", "queue": {"retry_limit": None}}
    )
    assert isinstance(found, ForeignSchedule)
    assert (found.options["retry"].limit, found.options["time_limit"]) == (2, timedelta(minutes=15))


def test_an_option_of_a_schedule_that_is_not_known_is_refused_by_name() -> None:
    row = {"name": "mail", "cron": "0 3 * * *", "options": {"retryLimit": 1, "singletonSeconds": 5}}
    found = pgboss.read_schedule(row)
    assert isinstance(found, LeftOut)
    assert found.reason == "options not understood: singletonSeconds"


def test_a_shared_collection_is_brought_in_kind_by_kind(shell: Shell, mongo_database: str) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    with MongoClient[dict[str, Any]](mongo_database) as client:
        client.get_default_database()["jobs"].insert_many(
            [
                {"_id": 1, "cron": {"at": soon}, "kind": "mail", "to": "Ada"},
                {"_id": 2, "cron": {"at": soon}, "kind": "sync"},
            ]
        )
    words = ("jobs", "import", "mongodb-cron", mongo_database, "--task", "mail", "--json")
    (lost, _) = shell(*words, "--dry-run").data
    assert lost["what"] == "finished, or never to run: sleepUntil is empty"
    mine = ("--where", '{"kind": "mail"}', "--path", "sleepUntil=cron.at")
    assert [row["outcome"] for row in shell(*words, *mine).data] == ["inserted"]
    (job,) = shell("jobs", "list", "--json").data
    assert job["payload"] == {"cron": {}, "kind": "mail", "to": "Ada"}
    assert "sleepUntil, interval, repeatUntil" in shell(*words, "--path", "sleep=at").err
    assert "a filter in JSON" in shell(*words, "--where", "kind=mail").err


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [
        ("3 minutes", 180),
        ("1 hour and 30 minutes", 5400),
        ("an hour", 3600),
        (1500, 1.5),
        ("hour", 3600),
        ("two weeks", 1_209_600),
        ("1 month", 2_592_000),
        ("1.5 years", 47_304_000),
    ],
)
def test_intervals_in_words_are_read(interval: object, seconds: float) -> None:
    assert to_seconds(interval) == seconds


def test_words_that_are_no_interval_are_not_guessed() -> None:
    assert to_seconds("every full moon") is None
    assert to_seconds("*/5 * * * *") is None
    found = agenda.read({"_id": 1, "name": "greet", "repeatInterval": "2 fortnights"})
    assert isinstance(found, LeftOut)
    assert "no cron and no interval in words" in found.reason


def test_an_option_that_is_not_known_is_refused_by_name() -> None:
    found = agenda.read({"_id": 1, "name": "greet", "nextRunAt": NOW, "skipDays": "0,6"})
    assert isinstance(found, LeftOut)
    assert "skipDays" in found.reason


def test_rows_of_pg_boss_10_are_read_as_well() -> None:
    row = {
        "id": "a", "name": "mail", "state": "retry", "priority": 2, "data": {"to": "Ada"},
        "retry_limit": 3, "retry_count": 1, "retry_delay": 7, "retry_backoff": False,
        "expire_in": "00:15:00", "start_after": "2026-03-04T00:00:00+00:00", "policy": "short",
        "keep_until": "2026-03-18T00:00:00+00:00",
    }  # fmt: skip
    found = pgboss.read_job(row)
    assert isinstance(found, ForeignJob)
    assert found.options["time_limit"] == timedelta(minutes=15)
    assert (found.options["retry"].limit, found.options["run_at"]) == (2, NOW)
    assert any("keep_until" in note for note in found.notes)


def test_a_policy_without_counterpart_is_refused_by_name() -> None:
    row = {"id": "a", "name": "mail", "state": "created", "policy": "key_strict_fifo"}
    found = pgboss.read_job(row)
    assert isinstance(found, LeftOut)
    assert "key_strict_fifo" in found.reason


def test_a_nested_path_is_taken_out_of_the_payload() -> None:
    paper = {"_id": 1, "sleepUntil": NOW, "interval": "0 9 * * *", "data": {"at": NOW}}
    found = mongodb_cron.read(paper, task="greet", zone="Europe/Berlin", now=NOW)
    assert isinstance(found, ForeignSchedule)
    assert found.payload == {"data": {"at": NOW.isoformat()}}
    assert found.zone == "Europe/Berlin"


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with Engine("memory://", clock=VirtualClock(NOW)) as opened:
        yield opened


async def import_one(engine: Engine, paper: dict[str, Any]) -> ImportedRecord:
    one = mongodb_cron.read({"_id": 1, **paper}, task="greet", zone="UTC", now=NOW)
    (imported,) = await import_records(engine, [one])
    return imported


@pytest.mark.parametrize(
    ("cron", "days"),
    [("0 0 15 * 1-7", {15}), ("0 9 1-31 * 1", {9, 16, 23, 30, 6}), ("5", {6, 13, 20, 27, 3})],
)
async def test_a_cron_of_mongodb_cron_means_the_same_here(
    engine: Engine, cron: str, days: set[int]
) -> None:
    await import_one(engine, {"sleepUntil": NOW + timedelta(hours=1), "interval": cron})
    (schedule,) = await engine.schedules()
    (first,) = await engine.preview(schedule.name, 1)
    shown = await engine.preview(schedule.name, 6000)
    assert {each.wall.day for each in shown if each.wall < first.wall + timedelta(days=31)} == days


@pytest.mark.parametrize("ends", [None, NOW - timedelta(hours=1)])
async def test_a_run_that_was_overdue_there_is_due_here(
    engine: Engine, ends: datetime | None
) -> None:
    overdue = NOW - timedelta(days=2)
    paper = {"sleepUntil": overdue, "interval": "0 0 1 1 *", "repeatUntil": ends, "name": "Ada"}
    imported = await import_one(engine, paper)
    (job,) = await engine.find()
    assert (job.state, job.run_at, job.payload) == (State.WAITING, overdue, '{"name":"Ada"}')
    assert f"job {job.id} for the run of" in imported.what
    (schedule,) = await engine.schedules()
    assert job.schedule == schedule.name
    assert schedule.next_at == (None if ends else datetime(2027, 1, 1, tzinfo=UTC))

    await engine.cancel(job.id)
    await import_one(engine, paper)
    assert len(await engine.find()) == 1, (
        "a second import finds its schedule, and makes no run up again"
    )


async def test_a_next_run_that_is_an_occurrence_comes_by_the_schedule(engine: Engine) -> None:
    tomorrow = NOW + timedelta(days=2, hours=9)  # its run of tomorrow is not wanted
    await import_one(engine, {"sleepUntil": tomorrow, "interval": "0 9 * * *"})
    (schedule,) = await engine.schedules()
    assert schedule.next_at == tomorrow
    assert await engine.find() == []


async def test_a_next_run_off_the_grid_is_made_and_none_before_it(engine: Engine) -> None:
    odd = NOW + timedelta(days=2, hours=9, minutes=7)
    await import_one(engine, {"sleepUntil": odd, "interval": "0 9 * * *"})
    (job,) = await engine.find()
    (schedule,) = await engine.schedules()
    assert job.run_at == odd
    assert schedule.next_at == NOW + timedelta(days=3, hours=9)


@pytest.mark.parametrize("interval", ["0 9 * * *", "3 minutes"])
async def test_what_agenda_had_not_run_in_time_is_due_here(engine: Engine, interval: str) -> None:
    overdue = NOW - timedelta(hours=2)
    paper = {"_id": 1, "name": "greet", "repeatInterval": interval, "nextRunAt": overdue}
    await import_records(engine, [agenda.read(paper)])
    (job,) = await engine.find()
    (schedule,) = await engine.schedules()
    assert job.run_at == overdue
    assert schedule.next_at is not None
    assert schedule.next_at > NOW


async def test_what_had_no_next_run_in_agenda_stands_still_and_says_so(engine: Engine) -> None:
    paper = {"_id": 1, "name": "greet", "repeatInterval": "0 9 * * *", "nextRunAt": None}
    (imported,) = await import_records(engine, [agenda.read(paper)])
    (schedule,) = await engine.schedules()
    assert schedule.paused
    assert any("no next run" in note for note in imported.notes)


def test_a_cron_that_releases_read_differently_is_refused_by_name() -> None:
    cron = "0 9 1-31 * 1"
    paper = {"_id": 1, "name": "greet", "repeatInterval": cron, "nextRunAt": NOW}
    row = {"name": "mail", "cron": cron}
    for found in (agenda.read(paper), pgboss.read_schedule(row)):
        assert isinstance(found, LeftOut)
        assert cron in found.reason
    for plain in ("*/5 * * * *", "0 9 1,15 * *", "0 9 * * MON-FRI", "0 9 13 * 5", "@daily"):
        assert isinstance(pgboss.read_schedule({"name": "mail", "cron": plain}), ForeignSchedule)


def test_a_dry_run_tells_of_the_run_that_is_due(shell: Shell, mongo_database: str) -> None:
    overdue = datetime.now(UTC) - timedelta(days=1)
    with MongoClient[dict[str, Any]](mongo_database) as client:
        client.get_default_database()["jobs"].insert_one(
            {"_id": 1, "sleepUntil": overdue, "interval": "0 0 1 1 *"}
        )
    words = ("jobs", "import", "mongodb-cron", mongo_database, "--task", "greet", "--json")
    assert "and a job for the run of" in shell(*words, "--dry-run").data[0]["what"]
    assert "and job 1 for the run of" in shell(*words).data[0]["what"]


def test_an_address_without_a_database_says_what_to_write(shell: Shell) -> None:
    said = shell("jobs", "import", "agenda", "mongodb://127.0.0.1:1", "--dry-run")
    assert said.code == 2
    assert "mongodb://HOST/DATABASE" in said.err
