"""`cadenza jobs` shows and changes what is in the store, for people and for programs."""

from __future__ import annotations

import re

import pytest

from cadenza.engine import Engine, Scope
from cadenza.engine.testing.drain import drain
from tests.cli.conftest import Shell


async def fail_one(engine: Engine) -> None:
    @engine.task(retry=0)
    def doomed(name: str) -> None:
        raise ValueError(f"no such person: {name}")

    await drain(engine)


def test_an_enqueued_job_is_listed_and_shown(shell: Shell) -> None:
    said = shell("jobs", "enqueue", "greet", "name=Ada", "times=3", "--tag", "hello", "--json")
    assert said.code == 0
    assert (said.data["outcome"], said.data["id"]) == ("inserted", 1)
    (listed,) = shell("jobs", "list", "--json").data
    assert (listed["task"], listed["state"], listed["tags"]) == ("greet", "waiting", ["hello"])
    shown = shell("jobs", "show", "1", "--json").data
    assert shown["payload"] == {"name": "Ada", "times": 3}
    table = shell("jobs", "list").out
    assert re.search(r"1 +waiting +default +greet", table)
    assert '{"name":"Ada","times":3}' in shell("jobs", "show", "1").out


def test_jobs_are_chosen_and_paged(shell: Shell) -> None:
    for queue in ("mail", "mail", "default"):
        shell("jobs", "enqueue", "greet", "--queue", queue)
    assert [job["id"] for job in shell("jobs", "list", "--queue", "mail", "--json").data] == [2, 1]
    assert shell("jobs", "list", "--state", "failed", "--json").data == []
    assert "no such jobs" in shell("jobs", "list", "--state", "failed").out
    page = shell("jobs", "list", "--limit", "2")
    assert "--before 2" in page.out
    assert [job["id"] for job in shell("jobs", "list", "--before", "2", "--json").data] == [1]


def test_times_are_shown_in_utc_and_in_a_zone(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet", "--run-at", "2030-07-01T09:00:00+02:00")
    shown = shell("jobs", "show", "1", "--zone", "Asia/Tokyo").out
    assert "2030-07-01 07:00:00Z" in shown
    assert "2030-07-01 16:00:00 UTC+09:00" in shown


def test_a_time_without_a_zone_is_refused_and_nothing_is_stored(shell: Shell) -> None:
    said = shell("jobs", "enqueue", "greet", "--run-at", "2030-07-01T09:00:00")
    assert said.code == 2
    assert "has no time zone" in said.err
    assert shell("jobs", "list", "--json").data == []


def test_why_names_the_gate_and_who_can_open_it(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet", "--queue", "mail")
    paused = shell("jobs", "pause", "mail", "--reason", "Ada is away")
    assert paused.out == "mail: paused (Ada is away)\n"
    said = shell("jobs", "why", "1")
    assert "mail is paused: Ada is away" in said.out.splitlines()[0]
    assert "jobs resume" in said.out
    checks = shell("jobs", "why", "1", "--json").data["checks"]
    assert [c["name"] for c in checks if not c["passed"]] == ["pause of mail", "worker"]
    shell("jobs", "resume", "mail")
    checks = shell("jobs", "why", "1", "--json").data["checks"]
    assert [c["name"] for c in checks if not c["passed"]] == ["worker"]


def test_a_mistyped_queue_is_not_paused_and_the_known_ones_are_named(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet", "--queue", "mail")
    refused = shell("jobs", "pause", "mial")
    assert (refused.code, refused.out) == (1, "")
    assert "no queue 'mial' is known: there are default, mail." in refused.err
    assert "Did you mean 'mail'?" in refused.err
    assert shell("jobs", "tally", "--json").data["gates"] == []
    ahead = shell("jobs", "pause", "letters", "--force", "--reason", "not before Monday")
    assert ahead.out == "letters: paused (not before Monday)\n", ahead.err
    assert shell("jobs", "pause", "letters").code == 0, "it is known now"


def test_a_failed_job_shows_its_error_and_can_be_redriven(shell: Shell) -> None:
    shell("jobs", "enqueue", "doomed", "name=Ben")
    shell.with_engine(fail_one)
    assert "ValueError: no such person: Ben" in shell("jobs", "list").out
    shown = shell("jobs", "show", "1").out
    assert "ValueError (attempt 1): no such person: Ben" in shown
    assert "test_jobs.py" in shown  # the traceback
    assert shell("jobs", "redrive", "--queue", "other", "--json").data == {"redriven": []}
    assert shell("jobs", "redrive", "--json").data == {"redriven": [1]}
    assert shell("jobs", "show", "1", "--json").data["state"] == "waiting"


def test_cancel_and_retry_say_what_became_of_each(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    said = shell("jobs", "cancel", "1", "99", "--json")
    assert said.code == 0
    assert said.data == [{"id": 1, "answer": "changed"}, {"id": 99, "answer": "unknown"}]
    nothing = shell("jobs", "cancel", "1", "99")
    assert nothing.code == 1
    assert "no such job" in nothing.out
    assert shell("jobs", "retry", "1").code == 0
    assert shell("jobs", "show", "1", "--json").data["state"] == "waiting"


def test_limits_are_set_and_taken_away(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    said = shell("jobs", "limit", "mail", "--concurrency", "2", "--rate", "100/h", "--burst", "5")
    assert said.out == "mail: open, 2 at once, 100 starts per 1:00:00, 5 together\n"
    (gate,) = shell.with_engine(lambda engine: engine.store.gates())
    assert (gate.scope, gate.limit.concurrency) == (Scope("mail"), 2)
    assert "at once" in shell("jobs", "tally").out
    assert shell("jobs", "limit", "mail", "--none").out == "mail: open\n"


@pytest.mark.parametrize(
    "words",
    [
        ("limit", "mail"),
        ("limit", "mail", "--none", "--concurrency", "2"),
        ("limit", "mail", "--rate", "often"),
        ("limit", "mail", "--concurrency", "0"),
        ("enqueue", "greet", "name"),
        ("enqueue", "greet", "--payload", "[1]"),
        ("enqueue", "greet", "--payload", "{"),
        ("enqueue", "greet", "a=1", "--payload", "{}"),
        ("cancel",),
        ("show", "7"),
        ("why", "7"),
        ("schedules", "nightly"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(words: tuple[str, ...], shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    said = shell("jobs", *words)
    assert said.code == (1 if words[0] in ("show", "why", "schedules") else 2)
    assert said.err.startswith("cadenza: ")
    assert said.err.count("\n") == 1


def test_an_existing_unique_job_is_an_answer_and_no_success(shell: Shell) -> None:
    assert shell("jobs", "enqueue", "greet", "--unique", "ada").code == 0
    said = shell("jobs", "enqueue", "greet", "--unique", "ada")
    assert (said.code, said.out.split(",")[0]) == (1, "existing job 1")


def test_the_tally_counts_by_queue_and_state(shell: Shell) -> None:
    for queue in ("mail", "mail", "default"):
        shell("jobs", "enqueue", "greet", "--queue", queue)
    rows = shell("jobs", "tally", "--json").data["tally"]
    assert {(row["queue"], row["state"]): row["count"] for row in rows if row["count"]} == {
        ("mail", "waiting"): 2,
        ("default", "waiting"): 1,
    }
    assert re.search(r"mail +2 +0 +0 +0 +0", shell("jobs", "tally").out)


def test_schedules_are_listed_with_what_comes(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    shell.with_engine(
        lambda engine: engine.schedule("nightly", "greet", cron="30 2 * * *", zone="Europe/Berlin")
    )
    (schedule,) = shell("jobs", "schedules", "--count", "2", "--json").data
    assert (schedule["name"], len(schedule["coming"])) == ("nightly", 2)
    table = shell("jobs", "schedules", "nightly").out
    assert "30 2 * * * Europe/Berlin" in table
    assert "did you mean 'nightly'" in shell("jobs", "schedules", "nightl").err


def test_what_others_wrote_cannot_command_the_terminal(shell: Shell) -> None:
    shell("jobs", "enqueue", "doomed", "--payload", '{"name": "\\u001b[2J[red]Cy"}')
    shell.with_engine(fail_one)
    for words in (("list",), ("show", "1")):
        said = shell("jobs", *words).out
        assert "no such person: \ufffd[2J[red]Cy" in said
        assert "\x1b" not in said
