"""The reference server of the AT Protocol, from its npm package, for tests that want no imitation.

It is installed once into `.cache/pds` of the checkout (about two minutes, since its SQLite is compiled)
under a file lock, and started for the module that asks. Versions are pinned in `pds/package-lock.json`.
Limit: it needs Node 18.7 to 22 with npm, a compiler and a package registry; without them tests skip.
"""

from __future__ import annotations

import faulthandler
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.servers.place import ServerUnavailableError

PACKAGE = Path(__file__).with_name("pds")
CACHE = Path(__file__).parents[3] / ".cache" / "pds"
UNHURRIED = {"CFLAGS": "-O0", "CXXFLAGS": "-O0"}  # its SQLite: compiled in a third of the time
FILES = ("package.json", "package-lock.json", ".npmrc", "serve.mjs")
INSTALL_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Person:
    """An account on the server, with its password."""

    did: str
    handle: str
    password: str


@dataclass(frozen=True, slots=True)
class PdsServer:
    """A running server."""

    port: int

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def add_person(self, name: str) -> Person:
        """Make an account, and an app password for it."""
        handle, password = f"{name}.test", f"password-of-{name}"
        body = {"handle": handle, "email": f"{name}@example.org", "password": password}
        made = self._post("server.createAccount", body)
        owner = {"authorization": f"Bearer {made['accessJwt']}"}
        app = self._post("server.createAppPassword", {"name": "cadenza"}, owner)
        return Person(made["did"], handle, app["password"])

    def records(self, did: str) -> list[dict[str, object]]:
        """Return the posts of an account, as everybody may read them."""
        query = {"repo": did, "collection": "app.bsky.feed.post"}
        return self._ask("GET", f"repo.listRecords?{urlencode(query)}")["records"]

    def _post(
        self, method: str, body: dict[str, str], headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        kind = {"content-type": "application/json", **(headers or {})}
        return self._ask("POST", method, json.dumps(body), kind)

    def _ask(
        self, verb: str, method: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        with closing(HTTPConnection("localhost", self.port, timeout=30)) as line:
            line.request(verb, f"/xrpc/com.atproto.{method}", body, headers or {})
            reply = line.getresponse()
            said = reply.read()
        assert reply.status == 200, said
        return json.loads(said)


def install() -> Path:
    """Return a folder with the server installed; the first who asks does the work."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise ServerUnavailableError("Node and npm are not installed; take Node 20")
    version = subprocess.run([node, "--version"], capture_output=True, check=True).stdout
    parts = [version, *((PACKAGE / name).read_bytes() for name in FILES)]
    folder = CACHE / hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]
    if (folder / "installed").exists():
        return folder
    # Installing, or waiting for who does, takes longer than a test may: its watch is called off.
    faulthandler.cancel_dump_traceback_later()
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "installed").exists():
            _install(folder, npm)
    return folder


def _install(folder: Path, npm: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in FILES:
        shutil.copy(PACKAGE / name, folder / name)
    done = subprocess.run(
        [npm, "ci", "--no-audit", "--no-fund", "--no-progress"],
        cwd=folder,
        env=os.environ | UNHURRIED,
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise ServerUnavailableError(f"npm could not install @atproto/pds: {done.stderr[-400:]}")
    (folder / "installed").touch()


@contextmanager
def running(data: Path) -> Generator[PdsServer]:
    """Start a server that keeps its files in a folder; it ends with the context."""
    place = install()
    command = ["node", "serve.mjs", str(data)]
    quiet = {**os.environ, "LOG_ENABLED": "false"}
    with subprocess.Popen(
        command, cwd=place, env=quiet, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield PdsServer(_port(process))
        finally:
            process.terminate()
            process.wait(10)


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise ServerUnavailableError(f"@atproto/pds ended with {process.wait(10)} at its start")
    return int(json.loads(line)["port"])
