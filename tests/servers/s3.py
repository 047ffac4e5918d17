"""A private S3-like server: Versity's gateway over a folder, on a free port.

`with PrivateS3.create() as s3: s3.endpoint`. The binary is built once from the Go registry into the
checkout's `.cache/bin`, which takes minutes, so it is never demanded: where it is missing, tests skip
and say how to get it. The server dies with its owner (see keeper.py).
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from tests.servers import place
from tests.servers.place import Drop, ServerUnavailableError

CACHED = Path(__file__).parents[2] / ".cache" / "bin" / "versitygw"
START_SECONDS = 15
ACCESS_KEY = "cadenza-test"
SECRET_KEY = "not-a-secret-of-anybody"
REGION = "eu-central-1"
BUCKET = "media"


def find_binary() -> Path:
    found = CACHED if CACHED.exists() else shutil.which("versitygw")
    if found is None:
        raise ServerUnavailableError(
            "no S3-like server: `GOBIN=$PWD/.cache/bin go install "
            "github.com/versity/versitygw/cmd/versitygw@latest` builds one in some minutes"
        )
    return Path(found)


@dataclass(slots=True)
class PrivateS3:
    """One server with one bucket."""

    folder: Path
    alive: Path
    port: int
    _hold: IO[bytes] = field(repr=False)
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def create(cls) -> Self:
        """Make and start a server; it ends with this process."""
        binary = find_binary()
        folder = place.new_folder("s3")
        (folder / "root" / BUCKET).mkdir(parents=True)
        (folder / "sidecar").mkdir()  # not every file system keeps attributes
        alive = folder / "alive"
        server = cls(folder, alive, place.free_port(), place.hold(alive))
        try:
            server._start(binary)
        except BaseException:
            server.close()
            raise
        return server

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop for good and leave nothing behind."""
        if self._keeper is not None:
            self._keeper.send_signal(signal.SIGTERM)
            place.dismiss(self._keeper, patience=3)
            self._keeper = None
        self._hold.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, binary: Path) -> None:
        command = [str(binary), "--port", f"127.0.0.1:{self.port}", "--region", REGION]
        command += ["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--health", "/health"]
        command += ["posix", "--sidecar", str(self.folder / "sidecar"), str(self.folder / "root")]
        self._keeper = place.keep(command, alive=self.alive, folder=self.folder, drop=Drop())
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        log = self.folder / "server.log"
        said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise ServerUnavailableError(f"the S3-like server did not start: {said}")
