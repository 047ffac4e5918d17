"""A private S3-like server: S3Proxy over a folder, on a free port, fetched once by Maven.

`with PrivateS3.create() as s3: s3.endpoint`. It checks signatures (version 4), the hash of what is sent and
the age of signed addresses, as Amazon's does. The server dies with its owner (see keeper.py).
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
from tests.servers.maven import JAVA, fetch_jars
from tests.servers.place import Drop, ServerUnavailableError

START_SECONDS = 60  # a Java machine on a busy box
ACCESS_KEY = "cadenza-test"
SECRET_KEY = "not-a-secret-of-anybody"
REGION = "eu-central-1"
BUCKET = "media"


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
        jars = fetch_jars("s3-pom.xml", instead="leave files on the disk")
        folder = place.new_folder("s3")
        (folder / "root" / BUCKET).mkdir(parents=True)
        alive = folder / "alive"
        server = cls(folder, alive, place.free_port(), place.hold(alive))
        try:
            server._start(jars)
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

    def _start(self, jars: Path) -> None:
        settings = self.folder / "s3.properties"
        settings.write_text(
            "s3proxy.authorization=aws-v4\n"
            f"s3proxy.identity={ACCESS_KEY}\n"
            f"s3proxy.credential={SECRET_KEY}\n"
            f"s3proxy.endpoint={self.endpoint}\n"
            "jclouds.provider=filesystem-nio2\n"
            "jclouds.identity=none\n"
            "jclouds.credential=none\n"
            f"jclouds.filesystem.basedir={self.folder / 'root'}\n"
        )
        java = shutil.which("java") or "java"
        command = [java, *JAVA, "-cp", f"{jars}/*", "org.gaul.s3proxy.Main"]
        command += ["--properties", str(settings)]
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
