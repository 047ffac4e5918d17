"""`cadenza jobs` over a server with a key: what a store shows, a server shows in the same words."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.cli.settings import USUAL
from cadenza.engine import Engine, Limit, Rate
from cadenza.engine.testing.drain import drain
from tests.cli.test_both_ways import Ada, succeed
from tests.cli.test_up import free_port, started

LOOKS = ("system:read",)
CHANGES = ("system:read", "system:write")


async def furnish(store: str) -> None:
    """Jobs in every state, with all that a job can have; gates of a queue and of a lane; schedules.

    7 and 8 are there to be changed; the others stay as they are, whichever test comes first.
    """
    async with Engine(store) as engine:

        @engine.task(retry=0, queue="mail")
        def greet(name: str) -> dict[str, str]:
            if name == "Ben":
                raise ValueError("no such person: \x1b[2JBen")
            return {"greeted": name}

        for name in ("Ada", "Ben"):
            await engine.enqueue("greet", {"name": name}, queue="mail", keep=True)
        await drain(engine, queues=["mail"])
        await engine.enqueue(
            "later", {"n": [1, 2.5, None]}, queue="mail", lane="ada", unique="one", delay=3600
        )
        for number in range(3):
            await engine.enqueue("sort", {"n": number}, queue="post", tags=["hello"], retry=7)
        await engine.enqueue("greet", {"name": "Ben"}, queue="spare", keep=True)
        await drain(engine, queues=["spare"])
        await engine.enqueue("sort", {"n": 4}, queue="spare", tags=["hello"])
        await engine.cancel(6, reason="Ada is away")
        await engine.pause("post", reason="Ada is away")
        await engine.limit("mail", "ada", limit=Limit(2, Rate(100, timedelta(hours=1), 5)))
        await engine.schedule("nightly", "sort", cron="30 2 * * *", zone="Europe/Berlin")
        await engine.schedule("often", "sort", every=172_800, paused=True)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, dict[str, str]]]:
    """A folder with jobs in it, a server on it without a worker, and keys."""
    folder = tmp_path_factory.mktemp("house")
    with started(folder, "serve", "--port", str(free_port())) as (_, said):
        with pytest.MonkeyPatch.context() as clean, contextlib.chdir(folder):
            for name in [name for name in os.environ if name.startswith("CADENZA")]:
                clean.delenv(name)
            succeed(
                "person", "create", "ada@example.org", "Ada", "--password", "four plain words here"
            )
            keys: dict[str, str] = {}
            for name, scopes in (("looks", LOOKS), ("changes", CHANGES)):
                words = [word for scope in scopes for word in ("--scope", scope)]
                keys[name] = json.loads(succeed("key", "make", name, "--json", *words))["key"]
            asyncio.run(furnish(USUAL.settings().database_address))
        yield folder, said["address"], keys


@pytest.fixture
def ada(
    runtime: tuple[Path, str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Ada:
    for name in [name for name in os.environ if name.startswith("CADENZA")]:
        monkeypatch.delenv(name)
    folder, server, keys = runtime
    monkeypatch.chdir(folder)
    return Ada(capsys, server, keys["looks"])


@pytest.fixture
def operator(ada: Ada, runtime: tuple[Path, str, dict[str, str]]) -> Ada:
    """The same with a key that may change jobs."""
    return Ada(ada.capture, ada.server, runtime[2]["changes"])


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "--zone", "Asia/Tokyo"),
        ("list", "--queue", "mail", "--state", "failed", "--state", "done"),
        ("list", "--tag", "hello", "--limit", "2"),
        ("list", "--lane", "ada"),
        ("list", "--task", "sort", "--before", "5"),
        ("list", "--schedule", "nightly"),
        *(("show", str(number)) for number in range(1, 7)),
        *(("why", str(number)) for number in range(1, 7)),
        ("why", "4", "--zone", "Asia/Tokyo"),
        ("tally",),
        ("schedules",),
        ("schedules", "nightly", "--count", "50"),
    ],
    ids=" ".join,
)
def test_what_a_store_shows_a_server_shows(ada: Ada, words: tuple[str, ...]) -> None:
    assert ada.both("jobs", *words).code == 0
    assert ada.both("jobs", *words, "--json").code == 0


def test_the_scene_holds_what_there_is_to_show(ada: Ada) -> None:
    states = {job["id"]: job["state"] for job in ada.remote("jobs", "list", "--json").data}
    assert [states[number] for number in range(1, 7)] == [
        *("done", "failed", "waiting", "waiting", "waiting", "canceled")
    ]
    assert ada.remote("jobs", "show", "1", "--json").data["output"] == {"greeted": "Ada"}
    assert "one" in ada.remote("jobs", "show", "3").out
    assert "no such person: \ufffd[2JBen" in ada.remote("jobs", "show", "2").out
    assert "post is paused: Ada is away" in ada.remote("jobs", "why", "4").out
    assert "100/1:00:00" in ada.remote("jobs", "tally").out
    assert "30 2 * * * Europe/Berlin" in ada.remote("jobs", "schedules").out


def test_a_long_list_is_taken_page_by_page(ada: Ada, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cadenza.cli.remote_jobs.PAGE", 2)
    assert len(ada.both("jobs", "list", "--limit", "5", "--json").data) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "999"), "no job 999 is known"),
        (("why", "999"), "no job 999 is known"),
        (("schedules", "nightl"), "did you mean 'nightly'?"),
    ],
)
def test_what_is_not_there_is_refused_alike(ada: Ada, words: tuple[str, ...], message: str) -> None:
    here, there = ada("jobs", *words), ada.remote("jobs", *words)
    assert (here.code, here.err) == (there.code, there.err)
    assert (there.code, message in there.err) == (1, True), there.err


def test_a_queue_and_a_lane_are_paused_and_resumed_from_afar(operator: Ada) -> None:
    paused = operator.remote("jobs", "pause", "mail", "--reason", "Ben is away")
    assert paused.out == "mail: paused (Ben is away)\n", paused.err
    assert "mail is paused: Ben is away" in operator("jobs", "why", "3").out
    lane = operator.remote("jobs", "pause", "mail", "ada")
    assert (
        lane.out
        == "mail/ada: paused (paused by request), 2 at once, 100 starts per 1:00:00, 5 together\n"
    )
    operator.both("jobs", "tally", "--json")
    assert operator.remote("jobs", "resume", "mail").out == "mail: open\n"
    assert operator.remote("jobs", "resume", "mail", "ada", "--json").data["paused"] is False


def test_a_mistyped_queue_is_refused_alike_from_afar(operator: Ada) -> None:
    here, there = (ask("jobs", "pause", "mial") for ask in (operator, operator.remote))
    assert here.code == there.code == 1
    for said in (here, there):
        assert "no queue 'mial' is known" in said.err.casefold(), said.err
        assert "there are default, mail, post, " in said.err
    assert "mial" not in operator("jobs", "tally").out
    forced = operator.remote("jobs", "pause", "mial", "--force")
    assert (forced.code, "leave out --server" in forced.err) == (2, True)


def test_jobs_are_changed_from_afar_and_each_is_told(operator: Ada) -> None:
    said = operator.remote("jobs", "cancel", "8", "6", "999", "--reason", "no use", "--json")
    answers = [(each["id"], each["answer"]) for each in said.data]
    assert (said.code, answers) == (0, [(8, "changed"), (6, "unchanged"), (999, "unknown")])
    assert "no use" in operator.both("jobs", "show", "8").out
    none = operator.remote("jobs", "cancel", "8", "999")
    assert (none.code, "no such job" in none.out) == (1, True)
    assert operator.remote("jobs", "retry", "8").code == 0
    assert operator("jobs", "show", "8", "--json").data["state"] == "waiting"
    spare = ("jobs", "redrive", "--queue", "spare")
    assert operator.remote(*spare, "--json").data == {"redriven": [7]}
    assert operator.remote(*spare).out == "no failed jobs\n"


def test_a_key_that_may_only_look_is_told_what_it_lacks(ada: Ada) -> None:
    for words in (("pause", "mail"), ("resume", "mail"), ("retry", "1"), ("cancel", "3")):
        refused = ada.remote("jobs", *words)
        assert (refused.code, "it needs system:write" in refused.err) == (1, True), refused.err


@pytest.mark.parametrize(
    "words",
    [
        ("enqueue", "greet"),
        ("limit", "mail", "--concurrency", "2"),
        ("import", "agenda", "mongodb://localhost/shop", "--dry-run"),
    ],
)
def test_what_only_a_store_can_do_is_refused_with_the_way(ada: Ada, words: tuple[str, ...]) -> None:
    refused = ada.remote("jobs", *words)
    assert (refused.code, "leave out --server" in refused.err) == (2, True), refused.err
    assert "--store" in refused.err


def test_a_store_and_a_server_at_once_are_refused(ada: Ada) -> None:
    for command in (("jobs", "list"), ("jobs", "pause", "mail"), ("doctor",), ("limits", "audit")):
        refused = ada.remote(*command, "--store", "memory://")
        assert (refused.code, "not both" in refused.err) == (2, True), refused.err


def test_a_server_without_a_key_says_how_to_get_one(ada: Ada) -> None:
    refused = ada("jobs", "list", "--server", ada.server)
    assert (refused.code, "cadenza key make" in refused.err) == (2, True)
