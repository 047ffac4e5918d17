"""A private PgBouncer in transaction mode, in front of a private PostgreSQL.

The binary must be on the machine (Debian: `apt install pgbouncer`); there is no wheel of it. It runs
as `nobody` under root, in a folder of its own, and is ended with the context.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers import place
from tests.servers.place import ServerUnavailableError
from tests.servers.postgres import PrivatePostgres

START_SECONDS = 10


def find_binary() -> str:
    found = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if found is None:
        raise ServerUnavailableError("no PgBouncer: install your system's pgbouncer package")
    return found


@contextmanager
def pgbouncer(server: PrivatePostgres, database: str, *, pool_size: int = 3) -> Generator[str]:
    """Pool a database in transaction mode; yield the dsn that clients use."""
    binary = find_binary()
    folder = place.new_folder("pb")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "pgbouncer.ini"
    if os.geteuid() == 0:
        folder.chmod(0o777)
    config.write_text(
        f"""
[databases]
{database} = host=127.0.0.1 port={urlsplit(server.tcp_dsn).port} dbname={database} user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
"""
    )
    as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen([binary, *as_nobody, str(config)], stdout=out, stderr=out)
    try:
        _wait_for(port, process, log)
        yield f"postgresql://postgres@127.0.0.1:{port}/{database}"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise ServerUnavailableError(f"pgbouncer ended at once: {log.read_text()[-300:]}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise ServerUnavailableError("pgbouncer did not listen in time")
