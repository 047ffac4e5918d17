"""One system on one fresh store: a producer process to command, worker processes to watch.

The producer obeys JSON lines; workers wait at a gate until all are up, then fetch. Everything
a session starts, it stops; what a process wrote to standard error is shown when it fails.
"""

import asyncio
import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.adapter import remove_file
from bench.catalogue import System
from bench.marks import Mark, count_marks, read_marks
from bench.prepare import ROOT
from bench.servers import Postgres, PrivateMongo
from bench.watch import Neighbours


class FailureError(Exception):
    """A system did not do what was asked; the text says what and shows its last words."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one drain left behind."""

    marks: list[Mark]
    others: float


@dataclass(frozen=True, slots=True)
class Ground:
    """What a run stands on: servers and interpreters."""

    postgres: Postgres
    valkey: Path
    bench_python: str
    host_python: str
    node: str
    mongo: PrivateMongo | None = None


class Session:
    """A context in which one system has a fresh store."""

    def __init__(self, system: System, connection: Ground) -> None:
        """Lay out the folders; nothing is started yet."""
        self.system, self.connection = system, connection
        self.memory = Path(tempfile.mkdtemp(prefix="bench-", dir="/dev/shm"))
        self.file = connection.postgres.folder.parent / f"cadenza-bench-{os.getpid()}.sqlite3"
        self.marks = self.memory / "marks"
        self.database = f"bench_{system.name}"
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        """Renew the store, start the producer, install the system's tables."""
        if self.system.store == "postgres":
            asyncio.run(self.connection.postgres.renew(self.database))
        elif self.system.store == "valkey":
            from redis import Redis

            Redis(unix_socket_path=str(self.connection.valkey)).flushall()
        elif self.connection.mongo is not None and self.system.store == "mongo":
            self.connection.mongo.drop(self.database)
        else:
            remove_file(str(self.file))
        self.producer = subprocess.Popen(
            self.command_line("produce"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.memory / "producer.err").open("wb"),
            env=self.environment(),
            cwd=ROOT,
        )
        self.ask(verb="setup", patience=60)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop everything and remove what was on the way."""
        self.stop_workers()
        if self.producer.stdin:
            self.producer.stdin.close()
        try:
            self.producer.wait(5)
        except subprocess.TimeoutExpired:
            self.producer.kill()
            self.producer.wait()
        remove_file(str(self.file))
        shutil.rmtree(self.memory, ignore_errors=True)

    def command_line(self, role: str) -> list[str]:
        """Return how a process of this system is started."""
        if self.system.runtime == "node":
            return [
                self.connection.node,
                str(ROOT / "bench" / "node" / "drive.mjs"),
                self.system.name,
                role,
            ]
        python = (
            self.connection.host_python
            if self.system.runtime == "host"
            else self.connection.bench_python
        )
        return [python, "-m", "bench.drive", self.system.name, role]

    def environment(self) -> dict[str, str]:
        """Return what a process of this system finds in its environment."""
        return {
            **os.environ,
            "BENCH_DSN": self.connection.postgres.dsn(self.database),
            "BENCH_FILE": str(self.file),
            "BENCH_VALKEY": str(self.connection.valkey),
            "BENCH_MONGO": self.connection.mongo.url_for(self.database)
            if self.connection.mongo
            else "",
            "BENCH_MARKS": str(self.marks),
            "BENCH_GATE": str(self.memory),
            "NODE_ENV": "production",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def send(self, **command: Any) -> None:
        """Give the producer a command without waiting for the answer."""
        assert self.producer.stdin
        self.producer.stdin.write(json.dumps(command).encode() + b"\n")
        self.producer.stdin.flush()

    def answer(self, patience: float) -> dict[str, Any]:
        """Wait for the producer's answer."""
        assert self.producer.stdout
        readable, _, _ = select.select([self.producer.stdout], [], [], patience)
        line = self.producer.stdout.readline() if readable else b""
        if not line:
            raise FailureError(
                f"{self.system.name}: the producer gave no answer. {self.last_words()}"
            )
        return json.loads(line)

    def ask(self, *, patience: float = 300, **command: Any) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        self.send(**command)
        return self.answer(patience)

    def load(self, first: int, count: int) -> float:
        """Put jobs in by the system's fastest way; return the seconds it took."""
        verb = "bulk" if self.system.bulk else "one"
        return self.ask(verb=verb, first=first, count=count)["seconds"]

    def settle_store(self) -> None:
        """Bring the store to rest before a measurement."""
        if self.system.store == "postgres":
            asyncio.run(self.connection.postgres.run(self.database, "VACUUM ANALYZE", "CHECKPOINT"))
        elif self.system.store == "sqlite":
            connection = sqlite3.connect(self.file, timeout=10)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()

    def start_workers(self, count: int) -> None:
        """Start workers and hold them at the gate until all have come up."""
        for file in (*self.memory.glob("ready-*"), self.memory / "go", self.marks):
            file.unlink(missing_ok=True)
        for index in range(count):
            errors = (self.memory / f"worker-{index}.err").open("wb")
            command = self.command_line("work")
            process = subprocess.Popen(
                command, env=self.environment(), cwd=ROOT, stdout=errors, stderr=errors
            )
            self.workers.append(process)
        end = time.monotonic() + 60
        while len(list(self.memory.glob("ready-*"))) < count:
            if time.monotonic() > end or any(worker.poll() is not None for worker in self.workers):
                raise FailureError(
                    f"{self.system.name}: a worker did not come up. {self.last_words()}"
                )
            time.sleep(0.01)

    def open_gate(self) -> None:
        """Let the workers fetch."""
        (self.memory / "go").touch()

    def stop_workers(self) -> None:
        """Ask the workers to finish; end those that do not within two seconds.

        Some peers take ten to stop, and by then the store was already found empty.
        """
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            try:
                worker.wait(2)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.workers.clear()

    def await_marks(self, count: int, patience: float) -> None:
        """Wait until so many jobs were handled."""
        end = time.monotonic() + patience
        while (seen := count_marks(self.marks)) < count:
            if any(worker.poll() is not None for worker in self.workers):
                raise FailureError(f"{self.system.name}: a worker died. {self.last_words()}")
            if time.monotonic() > end:
                raise FailureError(
                    f"{self.system.name}: {seen} of {count} handled in {patience:.0f} s. {self.last_words()}"
                )
            time.sleep(0.02)

    def drain(self, workers: int, count: int, patience: float = 120) -> Run:
        """Let fresh workers handle `count` jobs; stop them once the store is empty of work."""
        self.settle_store()
        self.start_workers(workers)
        neighbours = Neighbours()
        self.open_gate()
        self.await_marks(count, patience)
        others = neighbours.cores()
        return Run(read_marks(self.marks), others)

    def left(self, patience: float = 5) -> int:
        """Count unfinished jobs, giving late settlements a moment."""
        end = time.monotonic() + patience
        while (left := self.ask(verb="left")["left"]) and time.monotonic() < end:
            time.sleep(0.01)
        return left

    def settled_at(self) -> int | None:
        """Wait until the store holds no unfinished job; None if it was so at once."""
        if self.ask(verb="left")["left"] == 0:
            return None
        self.left()
        return time.monotonic_ns()

    def last_words(self) -> str:
        """Return the end of what the processes wrote to standard error."""
        texts = [file.read_text(errors="replace")[-1500:] for file in self.memory.glob("*.err")]
        return "\n".join(text for text in texts if text.strip())
