"""The two commands of a newcomer, `make test` and `make up`, on a machine without Node and npm.

A copy of this checkout is set up from nothing, with a PATH that holds every command but Node's. The whole
suite is not run inside itself: `make test` is, with one file of it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.repository.sources import ROOT, tracked
from tests.servers.place import free_port

pytestmark = pytest.mark.slow

NODE = {"node", "nodejs", "npm", "npx", "corepack"}
NOT_HANDED_ON = ("CADENZA", "MAKE", "MFLAGS", "PYTEST", "PYTHON", "VIRTUAL_ENV", "UV_")
SOME_TESTS = "tests/repository/test_states.py"


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A copy of what is tracked; on the disk, for it grows to hundreds of megabytes."""
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    for left in cache.glob("fresh-*"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="fresh-", dir=cache) as folder:
        for file in tracked():
            copy = Path(folder) / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        yield Path(folder)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Everything on PATH but Node, and nothing that this run of the tests has set for itself."""
    commands = tmp_path_factory.mktemp("commands")
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        for file in folder.iterdir() if folder.is_dir() else ():
            here = commands / file.name
            if file.name not in NODE and not here.is_symlink():
                here.symlink_to(file)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_HANDED_ON)}
    base = Path(sys.executable).resolve()  # not this run's .venv
    return {**kept, "PATH": str(commands), "PYTHON": str(base)}


def test_a_machine_without_node_builds_tests_and_serves_the_web_app(
    checkout: Path, environment: dict[str, str]
) -> None:
    assert shutil.which("npm", path=environment["PATH"]) is None
    tested = subprocess.run(
        ["make", "test", "JOBS=0", f"PYTEST_ARGS={SOME_TESTS}"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout[-2000:] + tested.stderr[-2000:]
    assert re.search(r"\d+ passed", tested.stdout)
    with make_up(checkout, environment) as address:
        page = httpx2.get(address)
        script = re.search(r'src="(/assets/[^"]+\.js)"', page.text)
        assert script is not None, page.text
        assert httpx2.get(address + script[1]).status_code == 200


@contextmanager
def make_up(checkout: Path, environment: dict[str, str]) -> Generator[str]:
    """Run `make up` until the block ends; give the address that it prints."""
    ports = (f"PORT={free_port()}", f"NETWORKS_PORT={free_port()}")
    process = subprocess.Popen(
        ["make", "up", *ports],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"demo is at (http://\S+)", line):
                yield found[1]
                break
        else:
            pytest.fail(f"it never said where it is:\n{said[-3000:]}")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
