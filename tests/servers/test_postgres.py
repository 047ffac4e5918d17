"""The private PostgreSQL keeps its promises to the tests that stand on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from tests.servers import postgres as postgres_module
from tests.servers.postgres import PrivatePostgres, find_install


async def _ask(dsn: str, question: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def test_it_answers_on_its_socket_and_on_tcp(postgres: PrivatePostgres) -> None:
    assert await _ask(postgres.dsn, "SELECT inet_client_addr() IS NULL") is True
    assert await _ask(postgres.tcp_dsn, "SELECT host(inet_client_addr())") == "127.0.0.1"


@pytest.mark.parametrize("round_number", [1, 2])
async def test_every_test_gets_an_empty_database(postgres_database: str, round_number: int) -> None:
    await _ask(postgres_database, "CREATE TABLE seen (id int)")


async def test_a_durable_server_survives_a_crash_with_what_it_committed(
    private_postgres: Callable[..., PrivatePostgres],
) -> None:
    server = private_postgres(fsync=True, settings={"work_mem": "5MB"})
    await _ask(server.dsn, "CREATE TABLE kept AS SELECT 7 AS seven")
    server.crash()
    assert server.pid is None
    server.start()
    assert await _ask(server.dsn, "SELECT seven FROM kept") == 7
    assert await _ask(server.dsn, "SHOW fsync") == "on"
    assert await _ask(server.dsn, "SHOW work_mem") == "5MB"


async def test_a_restart_keeps_the_dsn(private_postgres: Callable[..., PrivatePostgres]) -> None:
    server = private_postgres()
    before, first_pid = server.tcp_dsn, server.pid
    server.restart()
    assert server.tcp_dsn == before
    assert server.pid not in {None, first_pid}
    assert await _ask(before, "SELECT 1") == 1


def test_close_leaves_no_process_and_no_folder() -> None:
    server = PrivatePostgres.create()
    server.close()
    assert server.pid is None
    assert not server.folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands its server to another user")
@pytest.mark.usefixtures("postgres")
async def test_binaries_in_a_private_folder_are_brought_where_the_server_can_read_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    private_postgres: Callable[..., PrivatePostgres],
) -> None:
    hidden = _hide(find_install(), tmp_path)
    monkeypatch.setattr(postgres_module, "find_install", lambda: hidden)
    server = private_postgres()
    assert server.install != hidden
    assert await _ask(server.dsn, "SELECT 1") == 1


def _hide(install: Path, folder: Path) -> Path:
    site, package = install.parent.parent, install.parent.name
    for path in (install, site / f"{package}.libs"):
        if path.is_dir():
            shutil.copytree(path, folder / path.relative_to(site), symlinks=True)
    folder.chmod(0o700)
    return folder / install.relative_to(site)
