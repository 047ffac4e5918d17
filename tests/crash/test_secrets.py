"""Nothing secret stands in logs, errors, answers or rows, over a run of all networks with things going wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from cadenza.bootstrap import open_house
from cadenza.cli.run import run
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.rehearsal.faults import Kind
from tests.crash.house import Stage, WorkerProcess, environment, settings_for
from tests.crash.nursery import Nursery

pytestmark = pytest.mark.slow
TROUBLE = (Kind.EXPIRE, Kind.HTML_AFTER, Kind.RESET_AFTER, Kind.ERROR_AFTER, Kind.DROP_BEFORE)
COMMANDS = (
    ("config", "check"),
    ("config", "check", "--json"),
    ("db", "status", "--json"),
    ("keys", "rotate", "--json"),
)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    cast = await assemble()
    (tmp_path / "data").mkdir()
    database = f"sqlite:///{tmp_path}/data/cadenza.sqlite3"
    try:
        async with open_house(settings_for(cast, database, tmp_path / "data")) as house:
            opened = Stage(cast, house)
            await opened.furnish()
            yield opened
    finally:
        await cast.rehearsal.close()


def secrets_of(cast: Cast, keys: str) -> set[str]:
    """Gather all that nobody may read: tokens, app secrets, the keys themselves."""
    found = {line.split()[1] for line in keys.splitlines()}
    for role in cast.roles.values():
        tokens = role.connected.tokens
        held = (tokens.access, tokens.refresh, role.network.client_secret, *tokens.extra.values())
        found |= {secret.reveal() for secret in held if secret is not None}
    # Of an address that is a secret, its last word is what must not be seen.
    return {secret.rpartition("/")[2] for secret in found}


def found_in(text: bytes, secrets: Iterable[str]) -> list[str]:
    return [secret for secret in secrets if secret.encode() in text]


async def test_a_whole_run_leaves_no_secret_anywhere(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "worker.log"
    for kind in TROUBLE:
        for role in stage.cast.roles.values():
            role.world.faults.plan(kind, role.publishes, nth=1 + TROUBLE.index(kind))
            await stage.post(role, f"{kind} at {role.provider}")
    settings = stage.house.settings
    nursery = Nursery.open("cadenza.cli:main", "cadenza.cli.worker")
    worker = WorkerProcess.hire(nursery, stage.cast, settings, log, "--log-level", "debug")
    try:
        async with asyncio.timeout(12):
            while any(
                row["attempts"] == 0 and row["state"] == "scheduled" and not row["deferrals"]
                for row in (await stage.rows()).values()
            ):
                await asyncio.sleep(0.2)
    except TimeoutError:
        pass  # a network that asked for a wait keeps the rest of its lane waiting; the logs are there
    finally:
        assert await worker.stop() == 0
        nursery.close()
    secrets = secrets_of(stage.cast, settings.keys.read_text())
    assert len(secrets) >= 14
    assert b"worker started" in log.read_bytes()
    assert found_in(log.read_bytes(), secrets) == []

    for name, value in environment(stage.cast, settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for words in COMMANDS:
        await asyncio.to_thread(run, words)
    out, err = capfd.readouterr()
    assert "providers.x.client_secret" in out
    assert found_in((out + err).encode(), secrets) == []

    file = Path(settings.database.removeprefix("sqlite:///"))
    for each in file.parent.glob(f"{file.name}*"):
        assert found_in(each.read_bytes(), secrets) == [], each.name
    rows = await stage.house.operations.read(
        lambda tx, _: [tx.all(f"SELECT * FROM {t}") for t in ("attempt", "outbox", "audit")]
    )
    assert rows[0], "nothing was tried: the run proves nothing"
    assert found_in(repr(rows).encode(), secrets) == []
