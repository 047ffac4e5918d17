"""Worker processes that begin at once: one process imports everything, and forks each of them.

    nursery = Nursery.open("tests.crash.pipeline_program:run")
    worker = nursery.hire([address, marks])

Each is a process of its own, killed like any other; only the seconds of importing are shared, so that
tests on a small machine spend their time on kills. Limit: what is imported must start no thread.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Worker:
    """One forked process."""

    pid: int

    @property
    def alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def send(self, signal_: signal.Signals) -> None:
        os.kill(self.pid, signal_)

    def kill(self) -> None:
        """Kill with -9 and wait until it is gone."""
        self.send(signal.SIGKILL)
        self.wait(10)

    def wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.alive and time.monotonic() < end:
            time.sleep(0.002)
        return not self.alive


class Nursery:
    """The process that forks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @classmethod
    def open(cls, entry: str, *preload: str) -> Nursery:
        """Start it; `entry` is `module:function`, called with a list of words."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery", entry, *preload],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return cls(process)

    def hire(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        folder: Path | None = None,
    ) -> Worker:
        """Fork a worker, now."""
        request = {
            "words": list(words),
            "env": dict(env or {}),
            "log": str(log) if log else None,
            "folder": str(folder) if folder else None,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Worker(int(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


def _live(function: Any, request: dict[str, Any]) -> None:
    """Be a worker, to the end of the process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    random.seed()  # else all would throw the same dice
    nothing = os.open(os.devnull, os.O_RDWR)
    said = os.open(request["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT) if request["log"] else 2
    os.dup2(nothing, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(request["env"])
    if request["folder"]:
        os.chdir(request["folder"])
    code = 1
    try:
        function(request["words"])
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if request["log"]:
            Path(f"{request['log']}.left").write_text(str(code))
        os._exit(code)


def nurse(entry: str, *preload: str) -> None:
    """Import, then fork once for each line."""
    for module in preload:
        importlib.import_module(module)
    module, _, name = entry.partition(":")
    function = getattr(importlib.import_module(module), name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead leave nothing behind
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _live(function, json.loads(line))
        print(pid, flush=True)


if __name__ == "__main__":
    nurse(*sys.argv[1:])
