"""Servers end with their owner, even when the owner is killed and can clean up nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import place

ROOT = Path(__file__).parents[2]
OWNER = """
import sys, time
from {module} import {name}
server = {name}.create()
print(server.pid, server.folder, flush=True)
time.sleep(600)
"""


def _until(condition: Callable[[], bool], *, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("tests.servers.postgres", "PrivatePostgres"),
        ("tests.servers.valkey", "PrivateValkey"),
    ],
)
@pytest.mark.usefixtures("postgres", "valkey")  # skips where there is no such server
def test_a_killed_owner_leaves_no_server_and_no_folder(module: str, name: str) -> None:
    code = OWNER.format(module=module, name=name)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        assert place.running(int(pid), folder=Path(folder))
        os.kill(owner.pid, signal.SIGKILL)
    assert _until(lambda: not place.running(int(pid), folder=Path(folder)))
    assert _until(lambda: not Path(folder).exists())


@pytest.mark.usefixtures("postgres")
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_killed_test_run_leaves_no_server(tmp_path: Path, workers: str) -> None:
    told = tmp_path / "told"
    inner = tmp_path / "test_inner.py"
    inner.write_text(
        "import pathlib, time\n"
        "def test_hang(postgres):\n"
        f"    pathlib.Path({str(told)!r}).write_text(f'{{postgres.pid}} {{postgres.folder}}')\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-n", workers]
    with subprocess.Popen(
        [*command, "-c", str(ROOT / "pyproject.toml"), str(inner)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        assert _until(lambda: told.exists() and " " in told.read_text(), seconds=30)
        pid, folder = told.read_text().split()
        os.kill(run.pid, signal.SIGKILL)
    assert _until(lambda: not place.running(int(pid), folder=Path(folder)))
    assert _until(lambda: not Path(folder).exists())


def test_a_missing_server_is_a_skip_or_by_request_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.servers.run import REQUIRE, skip_or_fail

    monkeypatch.delenv(REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception):
        skip_or_fail("postgres", "not here")
    for requested in ("all", "valkey,postgres"):
        monkeypatch.setenv(REQUIRE, requested)
        with pytest.raises(pytest.fail.Exception):
            skip_or_fail("postgres", "not here")


def test_a_sweep_takes_dead_runs_and_leaves_living_ones() -> None:
    dead, living, young = (place.new_folder("run") for _ in range(3))
    for folder in (dead, living, young):
        (folder / "alive").touch()
    with place.hold(living / "alive"):
        for folder in (dead, living):
            os.utime(folder / "alive", (0, 0))
        place.sweep()
        assert [folder.exists() for folder in (dead, living, young)] == [False, True, True]
    shutil.rmtree(living)
    shutil.rmtree(young)
