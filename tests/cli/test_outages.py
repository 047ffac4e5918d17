"""What processes do when their database is away for a while, or its disk fails: real ones, on a real server."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.cli.test_up import free_port, started
from tests.servers.postgres import PrivatePostgres

pytestmark = pytest.mark.slow

AMPLE = 60.0  # seconds


@pytest.mark.parametrize("command", ["up", "serve"])
def test_a_server_outlives_its_postgres(
    private_postgres: Callable[..., PrivatePostgres], tmp_path: Path, command: str
) -> None:
    server = private_postgres()
    (tmp_path / "cadenza.toml").write_text(f'database = "{server.dsn}"\n')
    with started(tmp_path, command, "--port", str(free_port())) as (process, said):
        ready = f"{said['address']}/readyz"
        wait_for(ready, 200)
        server.stop()
        wait_for(ready, 503)
        time.sleep(6)  # longer than from one sign of life to the next
        assert process.poll() is None, process.stderr and process.stderr.read()
        server.start()
        wait_for(ready, 200)
    assert process.returncode == 0


@pytest.mark.parametrize("command", ["up", "serve"])
def test_a_failed_disk_ends_the_process(tmp_path: Path, command: str) -> None:
    """A supervisor starts it again, or a person reads why it did not: to try again would lie."""
    with started(tmp_path, command, "--port", str(free_port())) as (process, said):
        wait_for(f"{said['address']}/readyz", 200)
        room = Path(tmp_path, "cadenza-data", "cadenza.sqlite3-wal").stat().st_size
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (min(room, 4096), most))
        assert process.wait(AMPLE) == 3
        assert process.stderr is not None
        assert "disk I/O error" in process.stderr.read()


def wait_for(address: str, status: int) -> None:
    """Ask until the answer is so."""
    end = time.monotonic() + AMPLE
    while httpx2.get(address, timeout=AMPLE).status_code != status:
        assert time.monotonic() < end, f"{address} never answered {status}"
        time.sleep(0.1)
