"""The command line on a Redis store: the same words as on any other."""

from pathlib import Path

import pytest

from cadenza.engine import Engine
from cadenza.engine.testing.drain import drain
from tests.cli.conftest import Shell
from tests.servers.valkey import PrivateValkey


@pytest.fixture
def shell(
    tmp_path: Path,
    valkey: PrivateValkey,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    store = f"{valkey.url}?prefix={tmp_path.name}"
    monkeypatch.setenv("CADENZA_STORE", store)
    monkeypatch.chdir(tmp_path)
    return Shell(store, capsys)


async def fail_one(engine: Engine) -> None:
    @engine.task(retry=0)
    def doomed() -> None:
        raise ValueError("no")

    await drain(engine)


def test_a_job_is_enqueued_listed_shown_and_canceled(shell: Shell) -> None:
    said = shell("jobs", "enqueue", "greet", "name=Ada", "--tag", "hello", "--json")
    assert said.code == 0
    id_ = str(said.data["id"])
    (listed,) = shell("jobs", "list", "--json").data
    assert (listed["task"], listed["state"], listed["tags"]) == ("greet", "waiting", ["hello"])
    assert shell("jobs", "show", id_, "--json").data["payload"] == {"name": "Ada"}
    assert shell("jobs", "why", id_).code == 0
    assert shell("jobs", "cancel", id_).code == 0
    assert shell("jobs", "list", "--state", "canceled", "--json").data[0]["id"] == int(id_)


def test_a_failed_job_is_redriven(shell: Shell) -> None:
    shell("jobs", "enqueue", "doomed")
    shell.with_engine(fail_one)
    assert len(shell("jobs", "list", "--state", "failed", "--json").data) == 1
    assert shell("jobs", "redrive").code == 0
    assert len(shell("jobs", "list", "--state", "waiting", "--json").data) == 1


def test_a_store_may_be_named_in_the_command(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    assert len(shell("jobs", "list", "--store", shell.store, "--json").data) == 1


def test_the_doctor_says_what_the_server_may_lose(shell: Shell) -> None:
    assert "appendonly is off" in shell("doctor").out
