"""A crew of worker processes that are killed and replaced."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self


class Crew:
    """Keeps `size` worker processes running on one store; kills them with -9."""

    def __init__(
        self,
        address: str,
        marks: Path,
        *,
        size: int,
        seed: int,
        program: str = "tests.crash.program",
    ) -> None:
        self._command = [sys.executable, "-m", program, address, str(marks)]
        self._size = size
        self._random = random.Random(seed)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.kills = 0
        self.deaths = 0  # of their own

    def __enter__(self) -> Self:
        self.replace_dead()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def replace_dead(self) -> None:
        alive = [process for process in self._processes if process.poll() is None]
        self.deaths += len(self._processes) - len(alive)
        self._processes = alive
        while len(self._processes) < self._size:
            root = Path(__file__).parents[2]
            self._processes.append(
                subprocess.Popen(
                    self._command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
                )
            )

    def kill_one(self) -> None:
        victim = self._random.choice(self._processes)
        victim.kill()
        victim.wait()
        self._processes.remove(victim)
        self.kills += 1
        self.replace_dead()
