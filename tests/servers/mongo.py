"""A private MongoDB: mongod where there is one, else a stand-in that speaks its protocol.

`with PrivateMongo.create() as mongo: mongo.url_for("test")`. The stand-in (mongo-java-server over
an H2 file, fetched once by Maven) keeps its data over a clean restart; it has no replica sets,
no transactions, no indexes but unique ones. CADENZA_TEST_MONGO_URL names a server to use instead.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.servers import place
from tests.servers.maven import HERE, JAVA, fetch_jars
from tests.servers.place import Drop, ServerUnavailableError

URL = "CADENZA_TEST_MONGO_URL"
DISMISS_SECONDS = 3
START_SECONDS = 60  # a Java machine on a busy box


def _jars() -> Path:
    return fetch_jars("mongo-pom.xml", instead=f"install mongod, or name a server in {URL}")


def compile_stand_in() -> Path:
    """Compile the stand-in once for all runs: a start that compiles takes three times as long."""
    source, jars = HERE / "MongoStandIn.java", _jars()
    classes = jars / f"classes-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    with (jars / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (classes / "MongoStandIn.class").exists():
            command = ["javac", "-cp", f"{jars}/*", "-d", str(classes), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ServerUnavailableError(f"the stand-in did not compile: {done.stderr[-1000:]}")
    return classes


@dataclass(slots=True)
class PrivateMongo:
    """One server. Its port and its data stay the same over restarts."""

    folder: Path
    alive: Path
    port: int
    given: str | None = None  # somebody else's server: never started or stopped here
    _hold: IO[bytes] | None = field(default=None, repr=False)
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def create(cls, *, alive: Path | None = None, own: bool = False) -> Self:
        """Make and start a server; `own` asks for one that may be stopped."""
        given = None if own else os.environ.get(URL)
        folder = place.new_folder("mg")
        hold = None
        if alive is None:
            alive = folder / "alive"
            hold = place.hold(alive)
        server = cls(folder, alive, place.free_port(), given, hold)
        try:
            server.start()
        except BaseException:
            server.close()
            raise
        return server

    @property
    def is_mongod(self) -> bool:
        """Say whether it is the real one."""
        return self.given is not None or shutil.which("mongod") is not None

    @property
    def url(self) -> str:
        return self.given or f"mongodb://127.0.0.1:{self.port}/"

    def url_for(self, database: str) -> str:
        """The way to one database."""
        if self.given is None:
            return f"{self.url}{database}"
        base, _, query = self.given.partition("?")
        scheme, _, rest = base.partition("://")
        host = rest.split("/")[0]
        return f"{scheme}://{host}/{database}" + (f"?{query}" if query else "")

    @property
    def pid(self) -> int | None:
        try:
            pid = int((self.folder / "server.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if place.running(pid, folder=self.folder) else None

    def start(self) -> None:
        if self.given is not None or self.pid is not None:
            return
        (self.folder / "server.pid").unlink(missing_ok=True)
        self._keeper = place.keep(
            self._command(), alive=self.alive, folder=self.folder, drop=Drop()
        )
        self._wait_until_ready()

    def _command(self) -> list[str]:
        pid, mongod = str(self.folder / "server.pid"), shutil.which("mongod")
        if mongod is not None:
            data = self.folder / "data"
            data.mkdir(exist_ok=True)
            where = ["--dbpath", str(data), "--port", str(self.port), "--bind_ip", "127.0.0.1"]
            return [mongod, *where, "--nounixsocket", "--pidfilepath", pid]
        java = shutil.which("java") or "java"
        path = f"{compile_stand_in()}:{_jars()}/*"
        words = [str(self.port), str(self.folder / "h2"), pid]
        return [java, *JAVA, "-cp", path, "MongoStandIn", *words]

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def crash(self) -> None:
        """End it without a word; the stand-in may then lose what it was told in the last second."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good and leave nothing behind."""
        self._end(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def drop(self, database: str) -> None:
        """Forget what a test made."""
        with MongoClient[dict[str, object]](self.url) as client:
            client.drop_database(database)

    def hand_over(self) -> None:
        """Forget the keeper: another process of this run will end the server."""
        place.forget(self._keeper)
        self._keeper = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe(self) -> dict[str, object]:
        return {
            "folder": str(self.folder),
            "alive": str(self.alive),
            "port": self.port,
            "given": self.given,
        }

    @classmethod
    def attach(cls, description: Mapping[str, object]) -> Self:
        """Take hold of a server that another process of this run started."""
        given = description["given"]
        return cls(
            Path(str(description["folder"])),
            Path(str(description["alive"])),
            int(str(description["port"])),
            None if given is None else str(given),
        )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.pid is not None and self._answers():
                return
            if self._keeper is not None and self._keeper.poll() is not None:
                break
            time.sleep(0.02)
        log = self.folder / "server.log"
        said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise ServerUnavailableError(f"MongoDB did not start: {said}")

    def _answers(self) -> bool:
        try:
            with MongoClient[dict[str, object]](self.url, serverSelectionTimeoutMS=500) as client:
                client.admin.command("ping")
        except PyMongoError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        if self.given is None:
            place.end(self.pid, how, folder=self.folder, patience=START_SECONDS)
            place.dismiss(self._keeper, patience=DISMISS_SECONDS)
            self._keeper = None
