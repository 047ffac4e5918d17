"""PostgreSQL with a user named `cadenza`, as in compose.yaml: the engine's schema bears the same name.

PostgreSQL looks into the schema of the user's name first, so what is made without a schema's name changes
place when the engine makes its own. The processes are started in the order of compose.yaml.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.servers.place import free_port
from tests.servers.postgres import PrivatePostgres

MAIN = "import sys; from cadenza.cli import main; main(sys.argv[1:])"
ADA = {"email": "ada@example.org", "password": "four plain words here"}


@pytest.fixture
def server(private_postgres: Callable[..., PrivatePostgres]) -> PrivatePostgres:
    """A server as the image of compose.yaml sets it up: a user and a database, both named cadenza."""
    server = private_postgres()
    asyncio.run(_tell(server, "CREATE ROLE cadenza LOGIN CREATEDB"))
    asyncio.run(_tell(server, "CREATE DATABASE cadenza OWNER cadenza"))
    asyncio.run(_tell(server, "CREATE DATABASE bigger OWNER cadenza"))
    return server


async def _tell(server: PrivatePostgres, statement: str) -> None:
    connection = await asyncpg.connect(server.dsn)
    await connection.execute(statement)
    await connection.close()


class Machine:
    """A folder, and the settings that the processes on it share."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("CADENZA")}
        self.environ = {**clean, "CADENZA_DATA": str(folder)}
        if database is not None:
            self.environ["CADENZA_DATABASE"] = database
        self.address = f"http://127.0.0.1:{free_port()}"

    def call(self, *words: str, **options: Any) -> Any:
        """Run a command to its end; return what it printed as JSON."""
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words, "--json"],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def running(self) -> Generator[str | None]:
        """Start the server, then a worker; give the link that the server prints for the first owner."""
        port = self.address.rpartition(":")[2]
        with self._started("serve", "--port", port, "--json") as api:
            assert api.stdout is not None
            said = ""
            while not said.endswith("}\n"):
                said += api.stdout.readline() or pytest.fail("the server ended")
            with self._started("worker", "--log-level", "info") as worker:
                assert worker.stderr is not None
                assert "work" in worker.stderr.readline()
                yield json.loads(said)["first_start"]

    @contextmanager
    def _started(self, *words: str) -> Generator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *words],
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err


@pytest.mark.slow
def test_a_database_user_named_cadenza_keeps_its_people_over_a_restart(
    server: PrivatePostgres, tmp_path: Path
) -> None:
    there = server.tcp_dsn_for("cadenza").replace("postgres@", "cadenza@")
    machine = Machine(tmp_path, there)
    with machine.running() as link:
        assert link is not None
        token = link.partition("token=")[2]
        first = {**ADA, "token": token, "name": "Ada", "workspace": "Home"}
        made = httpx2.post(f"{machine.address}/api/v1/auth/first-start", json=first)
        assert made.status_code == 201, made.text
    with machine.running() as link:
        assert link is None, "the owner is gone"
        entered = httpx2.post(f"{machine.address}/api/v1/auth/sign-in", json=ADA)
        assert entered.status_code == 200, entered.text
    assert [person["name"] for person in machine.call("person", "list")] == ["Ada"]


@pytest.mark.slow
def test_an_installation_is_promoted_to_a_database_user_named_cadenza(
    server: PrivatePostgres, tmp_path: Path
) -> None:
    Machine(tmp_path).call("person", "create", ADA["email"], "Ada", input=f"{ADA['password']}\n")
    to = server.tcp_dsn_for("bigger").replace("postgres@", "cadenza@")
    moved = Machine(tmp_path).call("promote", "--to", to)
    assert {"table": "person", "rows": 1} in [
        {"table": each["table"], "rows": each["rows"]} for each in moved["tables"]
    ]
    grown = Machine(tmp_path, to)
    with grown.running() as link:
        assert link is None
    assert [person["name"] for person in grown.call("person", "list")] == ["Ada"]
