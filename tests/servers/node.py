"""Node, as the build of the web app finds it, and packages that tests run beside us.

The packages are installed once, by their lock, into .cache. `node_folder()` gives a folder whose node_modules hold mongodb-cron, Agenda 5 and 6, pg-boss 10 to 12,
and the scripts of tests/stores/node beside them.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

from tests.servers.place import ServerUnavailableError

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "stores" / "node"
CACHE = ROOT / ".cache" / "node-queues"
INSTALL_SECONDS = 600


def load_build() -> ModuleType:
    """Load the script that builds the web app."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    building = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(building)
    return building


def find_node() -> str:
    """Return the Node on PATH, else the one of the wheel."""
    building = load_build()
    return str(building.system_node() or building.wheel_node()[0])


def node_folder() -> Path:
    """Install what the lock names, if that is not done yet; bring the scripts up to date."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
        done = CACHE / "installed"
        for file in SOURCE.iterdir():
            shutil.copy(file, CACHE / file.name)
        if not done.exists() or done.read_text() != mark:
            run = _install()
            if run.returncode != 0:
                raise ServerUnavailableError(f"npm installed nothing: {run.stderr[-1000:]}")
            done.write_text(mark)
    return CACHE


def _install() -> subprocess.CompletedProcess[str]:
    try:
        with load_build().node_on_path() as (npm, environment):
            return subprocess.run(
                [*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                cwd=CACHE,
                env=environment,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
                check=False,
            )
    except SystemExit as reason:
        raise ServerUnavailableError(str(reason)) from reason


def run_script(name: str, *arguments: str, seconds: float = 120, zone: str = "UTC") -> str:
    """Run one of the scripts to its end; return what it printed."""
    folder = node_folder()
    done = subprocess.run(
        [find_node(), name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        env={"PATH": os.environ["PATH"], "TZ": zone},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
