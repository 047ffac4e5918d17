"""Commands on the local database load what they need: a second of loading would be most of their time.

What is loaded is checked, not how long it takes: a busy machine makes no difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cadenza.providers.names import provider_names
from cadenza.providers.registry import all_providers

LIST = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from cadenza.cli import main
main(sys.argv[1:])
"""
SERVING = {"fastapi", "pydantic", "starlette", "uvicorn", "cadenza.api"}
SENDING = {"cadenza.deliveries.publish", "cadenza.providers.base", "cadenza.bootstrap.runtime"}
REST = {
    "PIL",
    "h2",
    "httpcore2",
    "aiosmtplib",
    "pymongo",
    "redis",
    "cadenza.media",
    "cadenza.drafts",
}
ENGINE = {"cadenza.engine.worker", "cadenza.engine.client"}


def loaded_by(folder: Path, *words: str) -> set[str]:
    """Run a command in a process of its own; return the modules that it has loaded at its end."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CADENZA")}
    done = subprocess.run(
        [sys.executable, "-c", LIST, *words],
        env={**clean, "CADENZA_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("person", "list"), ("db", "status"), ("keys", "rotate")])
def test_a_command_on_the_database_loads_nothing_that_serves_or_sends(
    words: tuple[str, ...], sqlite_database: str, tmp_path: Path
) -> None:
    assert sqlite_database.endswith(str(tmp_path / "data" / "cadenza.sqlite3"))
    loaded = loaded_by(tmp_path, *words)
    assert "cadenza.sql.sqlite" in loaded, "it was really opened"
    assert not loaded & (SERVING | SENDING | REST | ENGINE)


@pytest.mark.parametrize(
    "words",
    [("--help",), ("queue", "--help"), ("--version",), ("cron", "preview", "5 9 * * 1")],
)
def test_a_command_without_a_database_opens_none(words: tuple[str, ...], tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, *words)
    assert not loaded & (SERVING | SENDING | REST | ENGINE | {"asyncpg", "cadenza.sql.sqlite"})


def test_the_names_of_the_networks_are_known_without_their_adapters() -> None:
    assert provider_names() == all_providers().keys()
