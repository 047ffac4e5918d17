"""Node packages that tests run beside us: installed once, by their lock, into .cache.

`node_folder()` gives a folder whose node_modules hold mongodb-cron, Agenda 5 and 6, pg-boss 10 to 12,
and the scripts of tests/stores/node beside them.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.servers.place import ServerUnavailableError

SOURCE = Path(__file__).parent.parent / "stores" / "node"
CACHE = Path(__file__).parent.parent.parent / ".cache" / "node-queues"
INSTALL_SECONDS = 600


def node_folder() -> Path:
    """Install what the lock names, if that is not done yet; bring the scripts up to date."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise ServerUnavailableError("no Node: install node 20 and npm to run the Node packages")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
        done = CACHE / "installed"
        for file in SOURCE.iterdir():
            shutil.copy(file, CACHE / file.name)
        if not done.exists() or done.read_text() != mark:
            run = subprocess.run(
                [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                cwd=CACHE,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
                check=False,
            )
            if run.returncode != 0:
                raise ServerUnavailableError(f"npm installed nothing: {run.stderr[-1000:]}")
            done.write_text(mark)
    return CACHE


def run_script(name: str, *arguments: str, seconds: float = 120, zone: str = "UTC") -> str:
    """Run one of the scripts to its end; return what it printed."""
    folder = node_folder()
    done = subprocess.run(
        ["node", name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "TZ": zone},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
