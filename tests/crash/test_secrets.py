"""Nothing secret stands in logs, errors, answers, exports, bundles or rows, over a run of all networks with trouble.

Looked for are all tokens that a network ever gave out or was shown, those of refreshes and rotations included,
passwords, app secrets, the database's password, and the keys that seal, before and after they are changed.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.bundle import write_bundle
from cadenza.cli.run import run
from cadenza.demo.cast import Cast, Role, assemble
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.network import Route, SimulatedNetwork
from cadenza.demo.simulator.wire import Answer, Received
from cadenza.posts.export import export_workspace
from cadenza.providers.http.redact import Secret
from cadenza.sql.tx import Tx
from tests.crash.nursery import Nursery
from tests.crash.runtime import HOME, Stage, WorkerProcess, environment, settings_for

pytestmark = pytest.mark.slow
TROUBLE = (Kind.EXPIRE, Kind.HTML_AFTER, Kind.RESET_AFTER, Kind.ERROR_AFTER, Kind.DROP_BEFORE)
COMMANDS = (
    ("config", "check"),
    ("config", "check", "--json"),
    ("db", "status", "--json"),
    ("keys", "rotate", "--json"),
)
SECRET = re.compile(
    r"(access|refresh|id)_?(token|jwt)|(client_?|app_?)?secret|password|code_verifier|appsecret_proof",
    re.IGNORECASE,
)
DATABASE_PASSWORD = "canary-of-the-database-password"
RENEWING = {"bluesky", "linkedin", "x"}  # networks that give a new token for one that ran out


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/cadenza.sqlite3"
    dsn: str = request.getfixturevalue("postgres_database")
    return dsn.replace("postgres@", f"postgres:{DATABASE_PASSWORD}@", 1)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """All that the networks answered, by network, as they wrote it."""
    answers: list[tuple[str, bytes]] = []
    answer = SimulatedNetwork.answer

    async def note(self: SimulatedNetwork, found: Route | None, call: Received) -> Answer:
        said = await answer(self, found, call)
        answers.append((self.name, said.body))
        return said

    monkeypatch.setattr(SimulatedNetwork, "answer", note)
    return answers


@pytest.fixture
async def stage(database: str, tmp_path: Path) -> AsyncIterator[Stage]:
    cast = await assemble()
    cast = replace(cast, roles={name: renewable(role) for name, role in cast.roles.items()})
    (tmp_path / "data").mkdir()
    try:
        async with open_runtime(settings_for(cast, database, tmp_path / "data")) as runtime:
            opened = Stage(cast, runtime)
            await opened.furnish()
            yield opened
    finally:
        await cast.simulator.close()


def renewable(role: Role) -> Role:
    """Give Ada the refresh token that the network hands out beside the other."""
    simulated: Any = role.simulated
    tokens = role.connected.tokens
    if tokens.refresh is not None or not hasattr(simulated, "issue_refresh"):
        return role
    for client in simulated.clients.values():
        if hasattr(client, "refreshes"):  # only some apps may
            client.refreshes = True
    refresh = Secret(simulated.issue_refresh(tokens.access.reveal()))
    return replace(role, connected=replace(role.connected, tokens=replace(tokens, refresh=refresh)))


def first_secrets(cast: Cast) -> set[str]:
    """Gather what Ada's accounts and apps begin with."""
    found = set[str]()
    for role in cast.roles.values():
        tokens = role.connected.tokens
        held = (tokens.access, tokens.refresh, role.network.client_secret, *tokens.extra.values())
        found |= {secret.reveal() for secret in held if secret is not None}
    return bare(found)


def later_secrets(cast: Cast, told: Iterable[tuple[str, bytes]]) -> set[str]:
    """Gather what networks gave out and what they were shown, in whatever place."""
    found = {secret for _, body in told for secret in in_body(body)}
    for role in cast.roles.values():
        for call in role.simulated.received:
            found |= {*in_body(call.body), *named(call.query)}
            scheme, _, shown = call.headers.get("authorization", "").partition(" ")
            if scheme.lower() == "basic":
                shown = base64.b64decode(shown).decode().partition(":")[2]
            found.add(shown)
    return {each for each in bare(found) if len(each) >= 8}


def keys_of(runtime: Runtime) -> set[str]:
    return {line.split()[1] for line in runtime.settings.keys.read_text().splitlines()}


def bare(secrets: Iterable[str]) -> set[str]:
    # Of an address that is a secret, its last word is what must not be seen.
    return {secret.rpartition("/")[2] for secret in secrets}


def in_body(body: bytes) -> Iterator[str]:
    try:
        yield from named(json.loads(body))
    except ValueError:
        yield from named(dict(parse_qsl(body.decode("latin-1"))))


def named(said: Any) -> Iterator[str]:
    """Yield what stands under a name that secrets have."""
    if isinstance(said, list):
        for each in said:
            yield from named(each)
    if not isinstance(said, dict):
        return
    for name, value in said.items():
        if isinstance(value, str) and SECRET.fullmatch(name):
            yield value
        yield from named(value)


def found_in(text: bytes, secrets: Iterable[str]) -> list[str]:
    return [secret for secret in secrets if secret and secret.encode() in text]


def unpacked(archive: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = opened.namelist()
        assert names
        return b"\n".join(opened.read(name) for name in names)


async def kept(runtime: Runtime) -> bytes:
    """Return all that the database keeps, row by row, however it is stored."""

    def look(tx: Tx, _: object) -> dict[str, object]:
        tables = tx.all(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            if tx.dialect == "sqlite"
            else "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        return {row["name"]: tx.all(f"SELECT * FROM {row['name']}") for row in tables}

    rows = await runtime.operations.read(look)
    assert rows["attempt"], "nothing was tried: the run proves nothing"
    assert rows["exchange"], "nothing was kept of what was said: the run proves nothing"
    return repr(rows).encode()


async def work(stage: Stage, log: Path) -> None:
    """Let a worker meet all the trouble."""
    for kind in TROUBLE:
        for role in stage.cast.roles.values():
            role.simulated.faults.plan(kind, role.publishes, nth=1 + TROUBLE.index(kind))
            await stage.post(role, f"{kind} at {role.provider}")
    nursery = Nursery.open("cadenza.cli:main", "cadenza.cli.worker")
    settings = stage.runtime.settings
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


async def test_a_whole_run_leaves_no_secret_anywhere(
    stage: Stage,
    told: list[tuple[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    log, runtime = tmp_path / "worker.log", stage.runtime
    await work(stage, log)
    first, later = first_secrets(stage.cast), later_secrets(stage.cast, told)
    assert len(first) >= 14
    renewing = {name for name, body in told if bare(in_body(body)) - first}
    assert renewing >= RENEWING, "tokens were not renewed: the run proves little"
    secrets = first | later | keys_of(runtime) | {DATABASE_PASSWORD}
    assert b"worker started" in log.read_bytes()
    assert found_in(log.read_bytes(), secrets) == []

    for name, value in environment(stage.cast, runtime.settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for words in COMMANDS:
        await asyncio.to_thread(run, words)
    secrets |= keys_of(runtime)
    out, err = capfd.readouterr()
    assert "providers.x.client_secret" in out
    assert found_in((out + err).encode(), secrets) == []

    file = Path(runtime.settings.database.removeprefix("sqlite:///"))
    for each in file.parent.glob(f"{file.name}*"):
        assert found_in(each.read_bytes(), secrets) == [], each.name
    assert found_in(await kept(runtime), secrets) == []
    assert found_in(unpacked(await write_bundle(runtime)), secrets) == []
    export = b"".join([piece async for piece in export_workspace(runtime.operations, HOME)])
    assert found_in(unpacked(export), secrets) == []


@pytest.mark.parametrize("words", [("db", "status"), ("doctor",), ("config", "check")])
async def test_a_database_that_is_not_there_is_named_without_its_password(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    address = f"postgresql://ada:{DATABASE_PASSWORD}@127.0.0.1:1/cadenza"
    monkeypatch.setenv("CADENZA_DATA", str(tmp_path))
    monkeypatch.setenv("CADENZA_DATABASE", address)
    monkeypatch.chdir(tmp_path)
    await asyncio.to_thread(run, words)
    out, err = capfd.readouterr()
    assert out + err
    assert found_in((out + err).encode(), [DATABASE_PASSWORD]) == []
