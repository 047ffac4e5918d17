"""`cadenza worker` runs an application's engine until it is told to stop."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.conftest import Shell

PATIENCE = 60  # seconds, for a busy machine
CADENZA = [sys.executable, "-c", "from cadenza.cli import main; main()"]
APP = """
    import os
    from cadenza.engine import Engine
    engine = Engine(os.environ["CADENZA_STORE"])

    @engine.task(queue="mail", retry=0)
    def greet(name: str) -> str:
        return f"hello {name}"

    not_an_engine = 3
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path, shell: Shell) -> Iterator[Start]:
    (tmp_path / "shop.py").write_text(dedent(APP))
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*CADENZA, "worker", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str]) -> list[dict[str, object]]:
    """Tell it to stop; return its log lines."""
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return [json.loads(line) for line in err.splitlines()]


def until_done(shell: Shell, id: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while shell("jobs", "show", str(id), "--json").data["state"] != "done":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def metrics(port: int) -> str:
    """Read the worker's numbers, as soon as it serves them and has counted its job."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                text = answer.read().decode()
        except OSError:
            text = ""
        if "cadenza_jobs_run_total{" in text or time.monotonic() > deadline:
            return text
        time.sleep(0.05)


def test_it_runs_jobs_and_stops_when_told(shell: Shell, start: Start) -> None:
    shell("jobs", "enqueue", "greet", "name=Ada", "--queue", "mail")
    process = start("shop:engine", "--name", "ada")
    until_done(shell, 1)
    assert shell("jobs", "show", "1", "--json").data["output"] == "hello Ada"
    lines = finish(process)
    assert [line["event"] for line in lines] == ["worker started", "worker stopped"]
    assert (lines[0]["worker"], lines[0]["queues"]) == ("ada", ["mail"])


def test_it_serves_metrics_to_this_machine(shell: Shell, start: Start) -> None:
    shell("jobs", "enqueue", "greet", "name=Ada", "--queue", "mail")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = start("shop:engine", "--metrics-port", str(port))
    until_done(shell, 1)
    text = metrics(port)
    assert 'cadenza_jobs_run_total{outcome="done",queue="mail",task="greet"} 1.0' in text
    assert re.search(r'cadenza_jobs\{queue="mail",state="(waiting|done)"\}', text)
    assert "cadenza_worker_slots 20.0" in text
    finish(process)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("shop:engin", "did you mean 'engine'"),
        ("shp:engine", "there is no module 'shp'"),
        ("shop", "write module:name"),
        ("shop:not_an_engine", "is a int, not an Engine"),
    ],
)
def test_a_wrong_path_says_what_to_write(
    path: str, message: str, shell: Shell, start: Start
) -> None:
    process = start(path)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == (2 if "write" in message or "not an" in message else 1)
    assert message in err
    assert "Traceback" not in err
