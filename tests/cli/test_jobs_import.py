"""`cadenza jobs import` brings in what the real mongodb-cron, Agenda and pg-boss left to do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import MongoClient

from cadenza.engine.adopt import ForeignJob, ForeignSchedule, LeftOut, agenda, mongodb_cron, pgboss
from cadenza.engine.adopt.agenda import to_seconds
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
    rehearsed = shell(*words, "--dry-run").data
    assert [row["outcome"] for row in rehearsed] == [
        "would insert",
        "would schedule",
        "left out",
        "refused",
    ]
    assert "there is no store" in shell("jobs", "list").err, "a dry run makes none"
    said = shell(*words)
    assert said.code != 0, "something was refused"
    assert [row["outcome"] for row in said.data] == ["inserted", "scheduled", "left out", "refused"]
    (job,) = shell("jobs", "list", "--json").data
    assert (job["task"], job["payload"]) == ("greet", {"name": "Ada"})
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


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [("3 minutes", 180), ("1 hour and 30 minutes", 5400), ("an hour", 3600), (1500, 1.5)],
)
def test_intervals_in_words_are_read(interval: object, seconds: float) -> None:
    assert to_seconds(interval) == seconds


def test_words_that_are_no_interval_are_not_guessed() -> None:
    assert to_seconds("every full moon") is None
    assert to_seconds("*/5 * * * *") is None


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
